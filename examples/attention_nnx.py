"""Global-local attention as a part of your own Flax NNX model."""

import jax
import jax.numpy as jnp
from flax import nnx

from stepwise.layers import GlobalLocalAttention, UnitStructure

embed, length, num_globals = 48, 256, 8
structure = UnitStructure(
  unit_ids=jnp.arange(length)[None] // 32,
  long_examples=jnp.ones((1, length), jnp.int32),
  global_examples=jnp.ones((1, num_globals), jnp.int32),
)
keys = jax.random.split(jax.random.key(0))
long = jax.random.normal(keys[0], (1, length, embed))
glob = jax.random.normal(keys[1], (1, num_globals, embed))


class Layer(nnx.Module):
  """Attention and a norm, for long tokens and for global ones."""

  def __init__(self, rngs: nnx.Rngs):
    attention = GlobalLocalAttention(heads=4, dim=12, radius=16)
    self.attention = nnx.bridge.ToNNX(attention, rngs=rngs)
    # A Linen module learns the widths of its inputs when it first sees them.
    # Its parameters name their axes; without a mesh nothing is sharded.
    with nnx.use_eager_sharding(False):
      self.attention.lazy_init(long, glob, structure)
    self.norm = nnx.LayerNorm(embed, rngs=rngs)

  def __call__(self, long, glob):
    attended = self.attention(long, glob, structure)
    return tuple(
      self.norm(x + y) for x, y in zip((long, glob), attended, strict=True)
    )


layer = Layer(nnx.Rngs(0))


@nnx.jit
def gradients(layer, long, glob):
  return nnx.grad(lambda layer: layer(long, glob)[0].std())(layer)


sizes = [leaf.size for leaf in jax.tree.leaves(gradients(layer, long, glob))]
print(len(sizes), 'parameters with gradients,', sum(sizes), 'numbers')
