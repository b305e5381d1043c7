"""What tests do with parameter trees: draw, stack, count and describe them."""

import functools
import json
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn
from flax import traverse_util
from jax.extend.core import jaxprs_in_params

TESTDATA = pathlib.Path(__file__).parent.parent / 'testdata'

# Compiling is most of a small test's time: this halves it.
quick_jit = functools.partial(
  jax.jit, compiler_options={'xla_backend_optimization_level': 0}
)


def draw(module: nn.Module, *inputs, seed: int = 0) -> dict:
  """Unboxed variables, spread enough that no mistake hides in a tolerance.

  Not so wide either that attention saturates and masked keys stop to matter.
  """
  shapes = jax.eval_shape(
    lambda *args: nn.meta.unbox(module.init(jax.random.key(0), *args)), *inputs
  )
  random = np.random.default_rng(seed)

  def draw_leaf(path, leaf):
    values = random.normal(size=leaf.shape)
    match path[-1].key:
      case 'kernel':
        values *= 0.3
      case 'scale':
        values = 1 + 0.2 * values
      case 'bias':
        values *= 0.3
    return jnp.asarray(values, leaf.dtype)

  return jax.tree_util.tree_map_with_path(draw_leaf, shapes)


def run(module: nn.Module, variables: dict, *inputs, method=None):
  """`module.apply` under jit, compiled once per module and shapes."""
  return _compiled(module, method)(variables, inputs)


@functools.cache
def _compiled(module: nn.Module, method):
  return quick_jit(lambda v, xs: module.apply(v, *xs, method=method))


def dropout_key(seed: int) -> jax.Array:
  """A key whose bits compile three times faster than threefry's."""
  return jax.random.key(seed, impl='unsafe_rbg')


def count(module: nn.Module, *inputs) -> int:
  variables = jax.eval_shape(module.init, jax.random.key(0), *inputs)
  return sum(leaf.size for leaf in jax.tree.leaves(variables))


def stack_layers(tree: dict) -> dict:
  """Turns every `layers_0`, `layers_1`, ... into one stacked `layers`."""
  if not isinstance(tree, dict):
    return tree
  layers = [
    tree[f'layers_{i}'] for i in range(len(tree)) if f'layers_{i}' in tree
  ]
  stacked = {
    name: stack_layers(child)
    for name, child in tree.items()
    if not name.startswith('layers_')
  }
  if layers:
    stacked['layers'] = jax.tree.map(lambda *xs: jnp.stack(xs), *layers)
  return stacked


def describe(module: nn.Module, *inputs) -> dict[str, str]:
  """Path -> 'axis=size axis=size' of every parameter; all must be named."""
  variables = jax.eval_shape(module.init, jax.random.key(0), *inputs)
  flat = traverse_util.flatten_dict(variables['params'], sep='/')
  described = {}
  for path, leaf in sorted(flat.items()):
    assert isinstance(leaf, nn.LogicallyPartitioned), (
      f'{path} has no axis names'
    )
    shape = leaf.value.shape
    assert len(leaf.names) == len(shape), path
    assert all(leaf.names), f'{path} has an unnamed axis'
    described[path] = ' '.join(
      f'{name}={size}' for name, size in zip(leaf.names, shape, strict=True)
    )
  return described


def product_dtypes(jaxpr) -> set:
  """Dtypes of everything that a program multiplies, inner programs too."""
  found = set()
  for equation in jaxpr.eqns:
    if equation.primitive.name == 'dot_general':
      found |= {variable.aval.dtype for variable in equation.invars}
    for inner in jaxprs_in_params(equation.params):
      found |= product_dtypes(inner)
  return found


def contract(name: str) -> dict[str, str]:
  return json.loads((TESTDATA / f'{name}.json').read_text())
