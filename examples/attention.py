"""Global-local attention in your own JAX code, without any module of ours."""

import jax
import jax.numpy as jnp

from stepwise.layers import (
  AttentionHeads,
  AttentionPattern,
  UnitStructure,
  global_local_attention,
)

batch, length, num_globals, heads, dim = 1, 4096, 128, 4, 32
keys = jax.random.split(jax.random.key(0), len(AttentionHeads._fields))
long_parts = ('long_query', 'l2l_key', 'l2l_value', 'g2l_key', 'g2l_value')
projected = AttentionHeads(
  **{
    name: jax.random.normal(
      key, (batch, length if name in long_parts else num_globals, heads, dim)
    )
    for name, key in zip(AttentionHeads._fields, keys, strict=True)
  }
)
# One global token for every 32 tokens; the last 96 tokens are padding.
units = jnp.arange(length)[None] // 32
structure = UnitStructure(
  unit_ids=units,
  long_examples=(jnp.arange(length)[None] < 4000).astype(jnp.int32),
  global_examples=(jnp.arange(num_globals)[None] < 125).astype(jnp.int32),
)


@jax.jit
def attend(projected, structure):
  return global_local_attention(
    projected, structure, AttentionPattern(radius=84, hard_g2l=True)
  )


long, glob = attend(projected, structure)
print(long.shape, glob.shape)
