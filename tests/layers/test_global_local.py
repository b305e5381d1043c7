"""Global-local attention: blocked equals dense, and what masks promise."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepwise._errors import InputError
from stepwise.layers import (
  AttentionHeads,
  AttentionPattern,
  Dropout,
  PairStructure,
  RelativeTable,
  RelativeTables,
  UnitStructure,
  global_local_attention,
  make_mesh,
  num_labels,
  pair_structure,
)
from stepwise.layers._global_local import choose_implementation

# Compiled: one by one, its operations take three times as long to start.
attend = jax.jit(
  global_local_attention, static_argnames=('pattern', 'implementation', 'block')
)

LONG = ('long_query', 'l2l_key', 'l2l_value', 'g2l_key', 'g2l_value')


def make_heads(rng, batch=2, length=23, num_globals=5, heads=3, dim=7):
  return AttentionHeads(
    *(
      jnp.asarray(
        rng.normal(
          size=(batch, length if name in LONG else num_globals, heads, dim)
        ),
        jnp.float32,
      )
      for name in AttentionHeads._fields
    )
  )


def make_tables(rng, labels, heads=3, dim=7):
  def table():
    return RelativeTable(
      jnp.asarray(rng.normal(size=(labels, heads, dim)), jnp.float32),
      jnp.asarray(rng.normal(size=(labels, heads)), jnp.float32),
    )

  return RelativeTables(table(), table())


def make_units(rng, batch=2, length=23, num_globals=5, examples=2):
  def ids(size):
    return jnp.asarray(np.sort(rng.integers(0, examples, (batch, size))))

  owners = rng.integers(-1, num_globals, (2, batch, length))
  return UnitStructure(
    jnp.asarray(owners[0]),
    ids(length),
    ids(num_globals),
    jnp.asarray(owners[1]),
    jnp.asarray(np.sort(rng.integers(0, 3, (batch, length)))),
  )


def make_pairs(rng, radius, labels, batch=2, length=23, num_globals=5):
  shapes = {
    'l2l': (length, 2 * radius + 1),
    'l2g': (length, num_globals),
    'g2g': (num_globals, num_globals),
    'g2l': (num_globals, length),
  }
  arrays = {}
  for part, shape in shapes.items():
    full = (batch, *shape)
    arrays[f'{part}_mask'] = jnp.asarray(rng.random(full) < 0.6)
    arrays[f'{part}_labels'] = jnp.asarray(rng.integers(0, labels, full))
  return PairStructure(**arrays)


def value_and_gradients(heads, structure, pattern, tables, **options):
  """Outputs, and gradients of a fixed random projection of them."""

  def loss(heads, tables):
    out = global_local_attention(heads, structure, pattern, tables, **options)
    rng = np.random.default_rng(7)
    return sum((x * rng.normal(size=x.shape)).sum() for x in out), out

  gradient = jax.jit(jax.grad(loss, (0, 1), has_aux=True, allow_int=True))
  return gradient(heads, tables)


def assert_same(first, second, tolerance=2e-5):
  jax.tree.map(
    lambda a, b: np.testing.assert_allclose(a, b, rtol=0, atol=tolerance),
    first,
    second,
  )


@st.composite
def problems(draw):
  sizes = {
    'batch': draw(st.integers(1, 2)),
    'length': draw(st.integers(1, 40)),
    'num_globals': draw(st.integers(0, 9)),
  }
  shape = {'heads': draw(st.integers(1, 3)), 'dim': draw(st.integers(1, 5))}
  pattern = AttentionPattern(
    radius=draw(st.integers(1, 12)),
    max_distance=draw(st.integers(0, 6)),
    hard_g2l=draw(st.booleans()),
    hard_l2g=draw(st.booleans()),
  )
  rng = np.random.default_rng(draw(st.integers(0, 2**31)))
  labels = num_labels(pattern.max_distance) + draw(st.integers(0, 2))
  if draw(st.booleans()):
    structure = make_units(rng, **sizes, examples=draw(st.integers(1, 3)))
    structure = structure._replace(
      parent_ids=draw(st.sampled_from([None, structure.parent_ids])),
      window_ids=draw(st.sampled_from([None, structure.window_ids])),
    )
  else:
    structure = make_pairs(rng, pattern.radius, labels, **sizes)
  tables = make_tables(rng, labels, **shape)
  tables = draw(st.sampled_from([tables, RelativeTables()]))
  heads = make_heads(rng, **sizes, **shape)
  return heads, structure, pattern, tables, draw(st.integers(1, 45))


def check_blocked_equals_dense(problem):
  *inputs, block = problem
  dense = value_and_gradients(*inputs, implementation='dense')
  blocked = value_and_gradients(*inputs, implementation='blocked', block=block)
  assert_same(blocked, dense)


@settings(max_examples=12, deadline=None, derandomize=True)
@given(problems())
def test_blocked_equals_dense(problem):
  check_blocked_equals_dense(problem)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(problems())
def test_blocked_equals_dense_on_many(problem):
  check_blocked_equals_dense(problem)


@pytest.mark.parametrize('implementation', ['dense', 'blocked'])
def test_without_globals_full_radius_is_plain_attention(implementation):
  rng = np.random.default_rng(12)
  query, key, value = (
    jnp.asarray(rng.normal(size=(2, 13, 3, 7)), jnp.float32) for _ in range(3)
  )
  long, glob = attend(
    AttentionHeads.shared((query, key, value)),
    UnitStructure.local(jnp.ones((2, 13), int)),
    AttentionPattern(radius=13),
    implementation=implementation,
    block=4,
  )
  assert glob.shape == (2, 0, 3, 7)
  assert_same(long, jax.nn.dot_product_attention(query, key, value))


@pytest.mark.parametrize('length', [1, 24, 130])
def test_default_block_works_for_any_length(length):
  rng = np.random.default_rng(0)
  heads = make_heads(rng, length=length)
  units = make_units(rng, length=length)
  pattern, tables = AttentionPattern(radius=11), make_tables(rng, 28)
  blocked = attend(heads, units, pattern, tables)
  dense = attend(heads, units, pattern, tables, implementation='dense')
  assert_same(blocked, dense)


def test_unit_structure_equals_its_pairs():
  rng = np.random.default_rng(1)
  heads, units, tables = make_heads(rng), make_units(rng), make_tables(rng, 10)
  pattern = AttentionPattern(radius=4, max_distance=3, hard_g2l=True)
  fast = value_and_gradients(heads, units, pattern, tables, block=6)
  general = value_and_gradients(
    heads, pair_structure(units, pattern), pattern, tables, block=6
  )
  assert_same(fast, general)


def test_shared_weights_and_full_radius_are_plain_attention():
  rng = np.random.default_rng(2)
  length, num_globals = 13, 5
  query, key, value = (
    jnp.asarray(rng.normal(size=(2, length + num_globals, 3, 7)), jnp.float32)
    for _ in range(3)
  )
  heads = AttentionHeads.shared(
    (query[:, :length], key[:, :length], value[:, :length]),
    (query[:, length:], key[:, length:], value[:, length:]),
  )
  outputs = attend(
    heads, PairStructure(), AttentionPattern(radius=length), block=4
  )
  plain = jax.nn.dot_product_attention(query, key, value)
  assert_same(jnp.concatenate(outputs, axis=1), plain)


@pytest.mark.parametrize('implementation', ['dense', 'blocked'])
def test_a_token_out_of_reach_has_exactly_zero_gradient(implementation):
  rng = np.random.default_rng(3)
  heads, radius, query = make_heads(rng), 4, 11
  ones = jnp.ones((2, 23), int)
  units = UnitStructure(ones, ones, ones[:, :5])

  def first_output(heads):
    long, _ = global_local_attention(
      heads,
      units,
      AttentionPattern(radius=radius),
      implementation=implementation,
      block=6,
    )
    return long[:, query].sum()

  gradient = jax.jit(jax.grad(first_output))(heads)
  distance = np.abs(np.arange(23) - query)
  for name in ('l2l_key', 'l2l_value'):
    size = jnp.abs(getattr(gradient, name)).max(axis=(0, 2, 3))
    assert (size[distance > radius] == 0).all()
    assert (size[distance <= radius] > 0).all()


def test_padding_content_never_matters():
  rng = np.random.default_rng(4)
  heads, tables = make_heads(rng), make_tables(rng, 28)
  long_real = jnp.arange(23)[None] < jnp.array([[23], [15]])
  global_real = jnp.arange(5)[None] < jnp.array([[5], [3]])
  units = make_units(rng)._replace(
    long_examples=long_real.astype(int), global_examples=global_real.astype(int)
  )
  real = {
    name: long_real if name in LONG else global_real for name in heads._fields
  }
  noisy = AttentionHeads(
    **{
      name: jnp.where(real[name][..., None, None], array, 1e3)
      for name, array in heads._asdict().items()
    }
  )
  read = functools.partial(
    attend,
    structure=units,
    pattern=AttentionPattern(radius=4),
    tables=tables,
    block=6,
  )
  for clean, dirty, mask in zip(
    read(heads), read(noisy), (long_real, global_real), strict=True
  ):
    np.testing.assert_array_equal(clean[mask], dirty[mask])


def test_packed_equals_unpacked():
  rng = np.random.default_rng(5)
  tables, pattern = make_tables(rng, 28), AttentionPattern(radius=4)
  heads = [make_heads(rng, 1, length, n) for length, n in ((11, 2), (7, 3))]
  units = [make_units(rng, 1, length, n, 1) for length, n in ((11, 2), (7, 3))]
  alone = [
    attend(h, u, pattern, tables, block=6)
    for h, u in zip(heads, units, strict=True)
  ]
  packed_heads = jax.tree.map(lambda *a: jnp.concatenate(a, axis=1), *heads)
  shifted = units[1]._replace(
    unit_ids=jnp.where(units[1].unit_ids < 0, -1, units[1].unit_ids + 2),
    parent_ids=jnp.where(units[1].parent_ids < 0, -1, units[1].parent_ids + 2),
    long_examples=units[1].long_examples + 1,
    global_examples=units[1].global_examples + 1,
  )
  packed_units = jax.tree.map(
    lambda *a: jnp.concatenate(a, axis=1), units[0], shifted
  )
  packed = attend(packed_heads, packed_units, pattern, tables, block=6)
  for together, parts in zip(packed, zip(*alone, strict=True), strict=True):
    assert_same(together, jnp.concatenate(parts, axis=1))


@pytest.mark.parametrize('implementation', ['dense', 'blocked'])
def test_fully_masked_rows_give_zeros_and_finite_gradients(implementation):
  rng = np.random.default_rng(6)
  heads, tables = make_heads(rng), make_tables(rng, 28)
  pairs = pair_structure(make_units(rng), AttentionPattern(radius=4))
  masks = {name: getattr(pairs, name) for name in pairs._fields[:4]}
  masks = {name: mask.at[:, 2].set(False) for name, mask in masks.items()}
  gradients, (long, glob) = value_and_gradients(
    heads,
    pairs._replace(**masks),
    AttentionPattern(radius=4),
    tables,
    implementation=implementation,
  )
  assert (long[:, 2] == 0).all() and (glob[:, 2] == 0).all()
  assert all(jnp.isfinite(g).all() for g in jax.tree.leaves(gradients))


def test_bfloat16_is_close_to_float32():
  rng = np.random.default_rng(8)
  heads, units, tables = make_heads(rng), make_units(rng), make_tables(rng, 28)
  half = jax.tree.map(lambda a: a.astype(jnp.bfloat16), heads)
  exact = jax.tree.map(lambda a: a.astype(jnp.float32), half)
  ours = value_and_gradients(half, units, AttentionPattern(4), tables, block=6)
  full = value_and_gradients(exact, units, AttentionPattern(4), tables, block=6)
  assert all(out.dtype == jnp.bfloat16 for out in ours[1])
  for low, high in zip(
    jax.tree.leaves(ours), jax.tree.leaves(full), strict=True
  ):
    scale = jnp.abs(high).max()
    assert jnp.abs(low.astype(jnp.float32) - high).max() < 0.03 * scale


def test_dropout_keeps_the_mean_and_repeats_for_a_key():
  rng = np.random.default_rng(9)
  heads, units = make_heads(rng), make_units(rng)

  @jax.jit
  def run(key):
    return global_local_attention(
      heads, units, AttentionPattern(4), block=6, dropout=Dropout(0.3, key)
    )

  keys = jax.random.split(jax.random.key(0), 600)
  draws = jax.lax.map(run, keys)
  clean = attend(heads, units, AttentionPattern(4), block=6)
  assert_same(run(keys[0]), run(keys[0]), 0)
  assert not np.allclose(draws[0][0], draws[0][1])
  for drawn, exact in zip(draws, clean, strict=True):
    error = np.abs(np.asarray(drawn.mean(axis=0) - exact))
    spread = np.asarray(drawn.std(axis=0)) / len(keys) ** 0.5
    assert (error <= 5 * spread + 1e-6).all()


def test_backward_pass_keeps_nothing_of_window_size():
  rng = np.random.default_rng(10)
  length, num_globals, radius = 512, 16, 16
  heads = make_heads(rng, 1, length, num_globals)
  units = make_units(rng, 1, length, num_globals)
  tables = make_tables(rng, 28)

  def residuals(implementation):
    def run(heads, tables):
      return global_local_attention(
        heads,
        units,
        AttentionPattern(radius),
        tables,
        implementation=implementation,
      )

    _, pullback = jax.vjp(run, heads, tables)
    return max(leaf.size for leaf in jax.tree.leaves(pullback))

  # A head's probabilities would be [length, window + globals].
  assert residuals('dense') >= 3 * length * (length + num_globals)
  assert residuals('blocked') < length * (2 * radius + 1 + num_globals)


class TestErrors:
  """Each names the argument, the value received and the value needed."""

  rng = np.random.default_rng(11)
  heads, units = make_heads(rng), make_units(rng)

  def test_radius(self):
    with pytest.raises(InputError, match='radius is 0, must be at least 1'):
      AttentionPattern(radius=0)

  def test_max_distance(self):
    with pytest.raises(
      InputError, match='max_distance is -1, must be at least 0'
    ):
      AttentionPattern(max_distance=-1)

  def test_rank(self):
    bad = self.heads._replace(g2l_key=self.heads.g2l_key[0])
    with pytest.raises(InputError, match=r'g2l_key has rank 3 .* rank 4'):
      global_local_attention(bad, self.units)

  def test_shape(self):
    bad = self.heads._replace(l2g_key=self.heads.l2g_key[:, :4])
    with pytest.raises(
      InputError,
      match=r'l2g_key has shape \(2, 4, 3, 7\), must be \(2, 5, 3, 7\)',
    ):
      global_local_attention(bad, self.units)

  def test_more_units_than_globals(self):
    bad = self.units._replace(unit_ids=self.units.unit_ids.at[0, 0].set(5))
    with pytest.raises(
      InputError, match='unit_ids names unit 5, but there are 5'
    ):
      global_local_attention(self.heads, bad)

  def test_unit_shape(self):
    bad = self.units._replace(long_examples=jnp.ones((2, 22), int))
    with pytest.raises(InputError, match=r'long_examples has shape \(2, 22\)'):
      global_local_attention(self.heads, bad)

  def test_table_too_small(self):
    with pytest.raises(
      InputError, match='has 9 labels, max_distance 12 needs at'
    ):
      global_local_attention(
        self.heads, self.units, tables=make_tables(self.rng, 9)
      )

  @pytest.mark.parametrize('label', [-1, 9])
  def test_label_out_of_range(self, label):
    pairs = make_pairs(self.rng, 4, 9)
    bad = pairs._replace(g2l_labels=pairs.g2l_labels.at[0, 0, 0].set(label))
    with pytest.raises(
      InputError, match=f'g2l_labels holds label {label}, must lie in 0..8'
    ):
      global_local_attention(
        self.heads, bad, AttentionPattern(4), make_tables(self.rng, 9)
      )

  def test_half_of_the_labels(self):
    pairs = make_pairs(self.rng, 4, 9)._replace(l2g_labels=None)
    with pytest.raises(
      InputError, match='only l2l_labels is given, must be both'
    ):
      global_local_attention(
        self.heads, pairs, AttentionPattern(4), make_tables(self.rng, 9)
      )

  def test_implementation(self):
    with pytest.raises(
      InputError, match=r"implementation is 'sparse', must be one of \('dense'"
    ):
      global_local_attention(self.heads, self.units, implementation='sparse')

  def test_block(self):
    with pytest.raises(InputError, match='block is 0, must be at least 1'):
      global_local_attention(self.heads, self.units, block=0)


def test_auto_says_what_it_chose(caplog):
  rng = np.random.default_rng(0)
  heads, units, tables = make_heads(rng), make_units(rng), make_tables(rng, 28)
  pattern = AttentionPattern(radius=3)
  with caplog.at_level('INFO', logger='stepwise'):
    chosen = global_local_attention(
      heads, units, pattern, tables, implementation='auto'
    )
  assert "global-local attention is 'blocked'" in caplog.text
  blocked = global_local_attention(heads, units, pattern, tables)
  assert_same(chosen, blocked, tolerance=0)
  with jax.set_mesh(make_mesh(1, sequence=2)):
    assert choose_implementation(units) == 'sequence'
  assert choose_implementation(PairStructure()) == 'blocked'
