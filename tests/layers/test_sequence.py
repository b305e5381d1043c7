"""A long axis over several devices: the numbers of one device."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stepwise.layers import (
  AttentionPattern,
  Dropout,
  PairStructure,
  RelativeTables,
  global_local_attention,
  make_mesh,
)
from tests.layers.attention_problems import draw_problem, gradients_of


@pytest.fixture(scope='module')
def mesh():
  return make_mesh(data=2, sequence=2, model=2)


@pytest.mark.parametrize('hard', [True, False])
def test_equals_one_device(mesh, hard):
  pattern = AttentionPattern(5, 3, hard_g2l=hard)
  heads, units, tables = draw_problem((2, 25, 5, 4, 3), pattern)
  plain = gradients_of('blocked', heads, units, pattern, tables)
  with jax.set_mesh(mesh):
    spread = gradients_of('sequence', heads, units, pattern, tables)
  jax.tree.map(
    lambda a, b: np.testing.assert_allclose(a, b, rtol=0, atol=1e-5),
    spread,
    plain,
  )


def test_dropout_draws_differ_from_shard_to_shard(mesh):
  pattern = AttentionPattern(3, 2)
  heads, units, _ = draw_problem((2, 16, 2, 2, 3), pattern)
  same = jax.tree.map(jnp.ones_like, heads)
  alone = units._replace(
    window_ids=jnp.tile(jnp.arange(16), (2, 1)),
    long_examples=jnp.zeros((2, 16), int),
    global_examples=jnp.zeros((2, 2), int),
    parent_ids=None,
  )
  with jax.set_mesh(mesh):
    out, _ = jax.jit(
      lambda heads: global_local_attention(
        heads,
        alone,
        pattern,
        RelativeTables(),
        implementation='sequence',
        dropout=Dropout(0.5, jax.random.key(0)),
      )
    )(same)
  # Three equal weights are dropped in each row: the first half of the
  # document draws other ones than the second.
  assert not np.array_equal(out[:, :8], out[:, 8:])
  np.testing.assert_allclose(np.mean(out), 1, atol=0.3)


def test_what_does_not_fit_is_refused(mesh):
  pattern = AttentionPattern(9, 3)
  heads, units, tables = draw_problem((2, 16, 3, 2, 3), pattern)

  def attend(structure):
    global_local_attention(
      heads, structure, pattern, tables, implementation='sequence'
    )

  with pytest.raises(ValueError, match="needs a mesh with the axis 'sequence'"):
    attend(units)
  with jax.set_mesh(mesh):
    with pytest.raises(ValueError, match='radius is 9, must be at most the 8'):
      attend(units)
    with pytest.raises(ValueError, match='takes a UnitStructure'):
      attend(PairStructure())
