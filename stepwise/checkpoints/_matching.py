"""Weights by flat name, and one complete answer to whether they fit."""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
from flax import traverse_util

from stepwise._errors import InputError

Params = dict[str, Any]  # A nested tree, as `init(...)['params']`.
Weights = dict[str, np.ndarray]
Shapes = Mapping[str, tuple[int, ...]]


def flatten(params: Params) -> dict[str, Any]:
  """The leaves of a tree by path, `stack/layers_0/self_norm/scale`."""
  return traverse_util.flatten_dict(params, sep='/')


def to_numpy(params: Params) -> Weights:
  """The leaves of a tree by path, on the host."""
  return {path: np.asarray(leaf) for path, leaf in flatten(params).items()}


def unflatten(weights: Mapping[str, Any]) -> Params:
  """The tree of flat weights, as float32 on the default device."""
  # `jnp.asarray` would compile a program for every shape.
  arrays = jax.device_put(
    {path: np.asarray(array, np.float32) for path, array in weights.items()}
  )
  return traverse_util.unflatten_dict(arrays, sep='/')


def shapes_of(weights: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
  return {name: tuple(array.shape) for name, array in weights.items()}


def check_shapes(what: str, given: Shapes, needed: Shapes) -> None:
  """Refuses weights that are not exactly the needed ones, naming them all."""
  missing = [f'{n} {list(needed[n])}' for n in sorted(needed.keys() - given)]
  unexpected = [f'{n} {list(given[n])}' for n in sorted(given.keys() - needed)]
  misshaped = [
    f'{n} is {list(given[n])} but {list(needed[n])} is needed'
    for n in sorted(given.keys() & needed)
    if given[n] != needed[n]
  ]
  problems = [
    f'{len(names)} {kind} ({", ".join(names)})'
    for kind, names in (
      ('missing', missing),
      ('unexpected', unexpected),
      ('of another shape', misshaped),
    )
    if names
  ]
  if problems:
    raise InputError(f'{what}: weights do not fit: {"; ".join(problems)}.')


def graft(
  what: str, params: Params, weights: Weights, fresh: tuple[str, ...]
) -> Params:
  """`params` with `weights` in place of all but the `fresh` subtrees."""
  initial = to_numpy(params)
  needed = {
    path: array.shape
    for path, array in initial.items()
    if not path.startswith(tuple(f'{name}/' for name in fresh))
  }
  check_shapes(what, shapes_of(weights), needed)
  return unflatten({**initial, **weights})


def below(prefix: str, weights: Weights) -> Weights:
  """The weights of a subtree, named from there."""
  start = f'{prefix}/'
  return {
    path.removeprefix(start): array
    for path, array in weights.items()
    if path.startswith(start)
  }


def under(prefix: str, weights: Weights) -> Weights:
  """The weights as those of a subtree `prefix`; the inverse of `below`."""
  return {f'{prefix}/{path}': array for path, array in weights.items()}


def stack_layers(
  layers: Sequence[Weights], looped: str, scanned: str, scan: bool
) -> Weights:
  """Layers as `{looped}0`, `{looped}1`, ..., or stacked as `scanned`."""
  if scan:
    return under(
      scanned, {k: np.stack([layer[k] for layer in layers]) for k in layers[0]}
    )
  weights = {}
  for i, layer in enumerate(layers):
    weights |= under(f'{looped}{i}', layer)
  return weights
