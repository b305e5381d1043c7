"""Our layers equal the published reference, outputs and all gradients."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stepwise.layers import (
  AttentionPattern,
  UnitStructure,
  distance_labels,
  example_ids_from_breakpoints,
  fixed_units,
  full_labels,
  num_labels,
  pair_structure,
  separate_segments,
  window_labels,
)
from tests.layers.golden import FOLDER, LAYER_FIXTURES, Fixture

TOLERANCE = {jnp.float64: 1e-10, jnp.float32: 2e-5}


def _float32_cases():
  """Equality is shown in float64; in float32 of one fixture, else slowly."""
  for name in LAYER_FIXTURES:
    slow = () if name == 'etc_transformer_etcsum' else (pytest.mark.slow,)
    yield pytest.param(name, jnp.float32, marks=slow, id=f'{name}-float32')


@pytest.mark.parametrize(
  ('name', 'dtype'),
  [
    *((name, jnp.float64) for name in LAYER_FIXTURES),
    *_float32_cases(),
  ],
)
@pytest.mark.parametrize('implementation', ['dense', 'blocked'])
def test_layer_fixture(name, implementation, dtype):
  with jax.enable_x64(dtype == jnp.float64):
    _check_fixture(Fixture(name, dtype), implementation, TOLERANCE[dtype])


def _check_fixture(fixture, implementation, tolerance):
  module = fixture.module(implementation)
  params, inputs = fixture.tree('w'), _float_inputs(fixture)

  def loss(params, inputs, structure):
    long, glob = module.apply({'params': params}, *inputs, structure)
    products = (
      long * fixture.float('cot/long'),
      glob * fixture.float('cot/global'),
    )
    return sum(product.sum() for product in products), (long, glob)

  differentiable = fixture.kind != 'model'
  gradient = jax.value_and_grad(
    loss, (0, 1) if differentiable else (0,), has_aux=True
  )
  (value, (long, glob)), gradients = jax.jit(gradient)(
    params, inputs, fixture.structure()
  )
  _check_outputs(fixture, long, glob, tolerance)
  assert_near(value, fixture.arrays['loss'], tolerance)
  jax.tree.map(
    lambda ours, theirs: assert_near(ours, theirs, tolerance),
    gradients[0],
    fixture.tree('grad_w'),
  )
  if differentiable:
    for ours, key in zip(gradients[1], ('long', 'global'), strict=True):
      assert_near(ours, fixture.arrays[f'grad_in/{key}_input'], tolerance)


def _float_inputs(fixture):
  if fixture.kind == 'model':
    keys = ('in/token_ids', 'in/global_token_ids')
    return tuple(jnp.asarray(fixture.arrays[key]) for key in keys)
  return fixture.float('in/long_input'), fixture.float('in/global_input')


def _check_outputs(fixture, long, glob, tolerance):
  names = [
    key.removesuffix('/long')
    for key in fixture.arrays
    if key.startswith('out_float64') and key.endswith('/long')
  ]
  assert names
  for name in names:
    assert_near(long, fixture.arrays[f'{name}/long'], tolerance)
    assert_near(glob, fixture.arrays[f'{name}/global'], tolerance)


def assert_near(ours, theirs, tolerance):
  """Within the tolerance of the array's own scale (at least one)."""
  theirs = np.asarray(theirs)
  scale = max(1.0, np.abs(theirs).max())
  np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * scale)


def test_number_of_parameters_matches_every_fixture():
  for name in LAYER_FIXTURES:
    fixture = Fixture(name, jnp.float32)
    sizes = [leaf.size for leaf in jax.tree.leaves(fixture.tree('w'))]
    assert sum(sizes) == fixture.arrays['num_params']


FEATURES = dict(np.load(FOLDER / 'etc_features.npz'))


def _cases(prefix):
  depth = prefix.count('/') + 1
  names = {'/'.join(k.split('/')[: depth + 1]) for k in FEATURES}
  return sorted(name for name in names if name.startswith(f'{prefix}/'))


@pytest.mark.parametrize('case', _cases('relpos'))
def test_relative_labels(case):
  distance, direction = case.split('/')[1].removeprefix('max').split('_')
  k, directed = int(distance), direction == 'directed'

  def expected(name):
    return FEATURES[f'{case}/{name}']

  np.testing.assert_array_equal(
    np.squeeze(expected('full_len7')), full_labels(7, k, directed)
  )
  # A window narrower than the clipping distance cuts the pattern.
  for radius in (5, 2) if k > 1 else (5,):
    rows = np.squeeze(expected(f'local_len4_radius{radius}'))
    np.testing.assert_array_equal(
      rows, np.tile(window_labels(radius, k, directed), (4, 1))
    )
  labels = distance_labels(np.arange(-99, 100), k, directed)
  assert expected('vocab_size') == len(np.unique(labels))


def _check_sides(prefix, structure, pattern):
  pairs = pair_structure(structure, pattern)
  for part in ('l2l', 'l2g', 'g2g', 'g2l'):
    for ours, theirs in (('mask', 'att_mask'), ('labels', 'relative_att_ids')):
      np.testing.assert_array_equal(
        getattr(pairs, f'{part}_{ours}'),
        FEATURES[f'{prefix}/out_{part}_{theirs}'],
      )


@pytest.mark.parametrize('case', _cases('side'))
def test_masks_and_labels_from_ids(case):
  structure = UnitStructure(
    *(
      jnp.asarray(FEATURES[f'{case}/{name}'])
      for name in ('sentence_ids', 'long_example_ids', 'global_example_ids')
    )
  )
  pattern = AttentionPattern(
    radius=int(FEATURES[f'{case}/radius']),
    max_distance=int(FEATURES[f'{case}/max_distance']),
    hard_g2l='hardg2l1' in case,
    hard_l2g='hardl2g1' in case,
  )
  _check_sides(case, structure, pattern)


def test_example_ids_from_breakpoints():
  long, glob = (
    example_ids_from_breakpoints(jnp.asarray(FEATURES[f'breakpoints/{name}']))
    for name in ('long', 'global')
  )
  units = jnp.asarray(FEATURES['breakpoints/sentence_ids'])
  _check_sides(
    'breakpoints', UnitStructure(units, long, glob), AttentionPattern(2, 2)
  )


def test_fixed_units():
  mask = jnp.asarray(FEATURES['fixed_blocks/input_mask'] > 0)
  structure = fixed_units(mask, 4)
  np.testing.assert_array_equal(
    structure.global_examples, FEATURES['fixed_blocks/out_global_token_ids']
  )
  _check_sides('fixed_blocks', structure, AttentionPattern(3, 2))


def test_separate_segments():
  labels, segments = (
    jnp.asarray(FEATURES[f'outside_segments/{name}'])
    for name in ('rel_ids', 'segment_ids')
  )
  np.testing.assert_array_equal(
    separate_segments(labels, segments, 8),
    FEATURES['outside_segments/out_value8'],
  )


def test_a_table_has_room_for_distances_and_memberships():
  assert num_labels(12) == 28
