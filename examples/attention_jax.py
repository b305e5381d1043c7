"""Global-local attention in plain JAX: arrays in, arrays out, no module."""

import jax
import jax.numpy as jnp

from stepwise.layers import (
  AttentionHeads,
  AttentionPattern,
  UnitStructure,
  bfloat16_products,
  global_local_attention,
)

length, num_globals, heads, dim = 4096, 128, 4, 32
pattern = AttentionPattern(radius=84, hard_g2l=True)


def project(key, tokens):
  """A query, a key and a value of every token; yours come from your model."""
  shape = (1, tokens, heads, dim)
  return tuple(
    jax.random.normal(part, shape) for part in jax.random.split(key, 3)
  )


keys = jax.random.split(jax.random.key(0))
projected = AttentionHeads.shared(
  project(keys[0], length), project(keys[1], num_globals)
)
# One global token for every 32 tokens; the last 96 tokens are padding.
structure = UnitStructure(
  unit_ids=jnp.arange(length)[None] // 32,
  long_examples=(jnp.arange(length)[None] < 4000).astype(jnp.int32),
  global_examples=(jnp.arange(num_globals)[None] < 125).astype(jnp.int32),
)


@jax.jit
def attend(projected, structure):
  return global_local_attention(
    projected, structure, pattern, dot_general=bfloat16_products
  )


long, glob = attend(projected, structure)
print('long', long.shape, 'global', glob.shape)

# Without global tokens, tokens read their windows and nothing else.
local = AttentionHeads.shared(project(keys[0], length))
examples = UnitStructure.local(structure.long_examples)
print('local', attend(local, examples)[0].shape)
