"""One rule table shards any model over a `data x model` mesh.

Parameters carry logical axis names (`embed`, `heads`, `kv`, `mlp`, `vocab`,
`layers`, ...), activations are constrained to names (`batch`, `length`,
`global`, `embed`, ...). Rules map names to mesh axes; a dimension that the
mesh axis does not divide stays whole.
"""

import math
from collections.abc import Sequence
from typing import Any

import jax
from flax import linen as nn
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

Rules = Sequence[tuple[str, str | None]]

DEFAULT_RULES: Rules = (
  ('batch', 'data'),
  ('heads', 'model'),
  ('mlp', 'model'),
  ('vocab', 'model'),
  # Replicated; listed so that a typo in a name is an error, not a silence.
  ('embed', None),
  ('embedding', None),
  ('global', None),
  ('kv', None),
  ('labels', None),
  ('layers', None),
  ('length', None),
  ('positions', None),
  ('score', None),
  ('segments', None),
  ('token_types', None),
  ('tokens', None),
  ('units', None),
)


def make_mesh(
  data: int, model: int = 1, devices: Sequence[Any] | None = None
) -> Mesh:
  """A `data x model` mesh over the first `data * model` devices."""
  devices = jax.devices() if devices is None else devices
  if data * model > len(devices):
    raise ValueError(
      f'a {data} x {model} mesh needs {data * model} devices, there are'
      f' {len(devices)}.'
    )
  return jax.make_mesh(
    (data, model),
    ('data', 'model'),
    # The compiler propagates shardings from parameters and constraints.
    axis_types=(AxisType.Auto, AxisType.Auto),
    devices=devices[: data * model],
  )


def param_shardings(
  boxed: Any, mesh: Mesh, rules: Rules = DEFAULT_RULES
) -> Any:
  """Shardings of a parameter tree as `init` or `eval_shape` of it returns it.

  Args:
    boxed: the tree with its axis names, that is, before `flax.linen.unbox`.
    mesh: the devices.
    rules: pairs of a logical name and a mesh axis, or None to replicate.

  Returns:
    The unboxed tree with a `NamedSharding` for every parameter.
  """
  specs = nn.get_partition_spec(boxed)
  table = dict(rules)

  def sharding(leaf: Any, spec: PartitionSpec) -> NamedSharding:
    axes = [None if name is None else _mesh_axis(name, table) for name in spec]
    fitting = [
      axis if axis and size % mesh.shape[axis] == 0 else None
      for size, axis in zip(leaf.shape, axes, strict=False)
    ]
    return NamedSharding(mesh, PartitionSpec(*fitting))

  return jax.tree.map(sharding, nn.unbox(boxed), specs)


def _mesh_axis(name: str, table: dict[str, str | None]) -> str | None:
  if name not in table:
    raise ValueError(
      f'no rule for logical axis {name!r}, rules are for {sorted(table)}.'
    )
  return table[name]


def init_sharded(
  module: nn.Module,
  mesh: Mesh,
  rng: jax.Array,
  *args: Any,
  rules: Rules = DEFAULT_RULES,
) -> Any:
  """Initial variables, created where they belong and never gathered."""
  shardings = param_shardings(
    jax.eval_shape(module.init, rng, *args), mesh, rules
  )

  def init(rng: jax.Array) -> Any:
    return nn.unbox(module.init(rng, *args))

  return jax.jit(init, out_shardings=shardings)(rng)


def num_params(module: nn.Module, *args: Any) -> int:
  """Counts the parameters of a module without allocating them.

  >>> import jax.numpy as jnp
  >>> num_params(nn.Dense(3), jnp.ones((1, 5)))
  18
  """
  shapes = jax.eval_shape(module.init, jax.random.key(0), *args)
  return sum(math.prod(x.shape) for x in jax.tree.leaves(shapes['params']))
