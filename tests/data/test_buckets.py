"""Buckets: every record comes out once, in few shapes, order restorable."""

import types

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepwise._errors import InputError
from stepwise.data import Buckets, batches, pad_batch, restore_order

BUCKETS = Buckets(lengths=(5, 11, 23), units=(3, 7))


def make_record(sizes, plan=(), targets=()):
  """A record whose units have the given numbers of tokens."""
  unit_ids = np.repeat(np.arange(len(sizes)), sizes)
  tokens = 100 + np.arange(len(unit_ids))
  return {
    'tokens': tokens.astype(np.int32),
    'unit_ids': unit_ids.astype(np.int32),
    'plan': np.array(plan, np.int32),
    'targets': np.array(targets, np.int32),
  }


records = st.lists(
  st.lists(st.integers(1, 3), max_size=7).map(make_record), max_size=40
)
limits = st.fixed_dictionaries({'batch_size': st.integers(1, 5)})


@settings(deadline=None)
@given(records, limits)
def test_every_record_comes_out_once_and_order_is_restored(records, limit):
  outputs = []
  for batch in batches(iter(records), BUCKETS, steps=2, **limit):
    rows = [
      tokens[unit_ids >= 0].tolist()
      for tokens, unit_ids in zip(
        batch.arrays['tokens'], batch.arrays['unit_ids'], strict=True
      )
    ]
    spare = [row for row, at in zip(rows, batch.index, strict=True) if at < 0]
    assert not any(spare)
    outputs.append((batch.index, rows))
  expected = [record['tokens'].tolist() for record in records]
  assert restore_order(outputs) == expected


@settings(deadline=None)
@given(records, limits)
def test_one_shape_per_bucket(records, limit):
  shapes = {}
  for batch in batches(records, BUCKETS, steps=2, **limit):
    rows, length = batch.arrays['tokens'].shape
    units = batch.arrays['valid'].shape[1]
    assert length in BUCKETS.lengths
    assert units in BUCKETS.units
    assert rows == limit['batch_size']
    shapes.setdefault((length, units), set()).add(
      tuple(array.shape for array in batch.arrays.values())
    )
  assert all(len(seen) == 1 for seen in shapes.values())


def test_full_batches_leave_at_once():
  seen = []

  def endless():
    while True:
      seen.append(None)
      yield make_record([1, 2])

  stream = batches(endless(), BUCKETS, steps=1, batch_size=3)
  assert next(stream).index.tolist() == [0, 1, 2]
  assert next(stream).index.tolist() == [3, 4, 5]
  assert len(seen) == 6


def test_pad_batch_arrays():
  first = make_record([2, 1, 1], plan=[2], targets=[0, 1])
  padded = {'tokens': [7, 8, 0], 'unit_ids': [0, 1, -1]}  # no plan, one spare
  arrays = pad_batch(
    [first, types.SimpleNamespace(**padded)],
    length=5,
    units=4,
    steps=3,
    batch=3,
  )
  expected = {
    'tokens': [[100, 101, 102, 103, 0], [7, 8, 0, 0, 0], [0] * 5],
    'unit_ids': [[0, 0, 1, 2, -1], [0, 1, -1, -1, -1], [-1] * 5],
    'plan': [[2, -1, -1], [-1] * 3, [-1] * 3],
    'targets': [[0, 1, -1], [-1] * 3, [-1] * 3],
    'num_units': [3, 2, 0],
    'valid': [[1, 1, 1, 0], [1, 1, 0, 0], [0] * 4],
  }
  assert arrays.keys() == expected.keys()
  for name, value in expected.items():
    np.testing.assert_array_equal(arrays[name], value, err_msg=name)


@pytest.mark.parametrize(
  ('length', 'units', 'expected'),
  [(0, 0, (5, 3)), (5, 3, (5, 3)), (6, 1, (11, 3)), (23, 4, (23, 7))],
)
def test_bucket_is_the_smallest_that_fits(length, units, expected):
  assert BUCKETS.bucket(length, units) == expected


def test_geometric_grid():
  buckets = Buckets.geometric(8192, 100, least=20)
  assert buckets.lengths == (32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
  assert buckets.units == (25, 50, 100)
  assert Buckets.geometric(3, 2).lengths == (3,)


@given(
  st.lists(
    st.tuples(st.integers(1, 9000), st.integers(1, 700)), min_size=1, max_size=9
  )
)
def test_sizes_that_fit_hold_everything(sizes):
  single = Buckets.single(sizes)
  for size in sizes:
    needed = Buckets.fitting(sizes).bucket(*size)
    assert needed[0] >= size[0]
    assert needed[1] >= size[1]
    assert single.bucket(*size) == (single.lengths[0], single.units[0])
  for most, axis in ((single.lengths[0], 0), (single.units[0], 1)):
    largest = max(size[axis] for size in sizes)
    assert most <= max(1.25 * largest, largest + 7)


@pytest.mark.parametrize(
  ('call', 'message'),
  [
    (lambda: Buckets((), (1,)), r'lengths is \(\) but must be positive'),
    (lambda: Buckets((3,), (2, 1)), r'units is \(2, 1\) but must be'),
    (lambda: Buckets.geometric(9, 9, ratio=1.0), 'ratio is 1.0 but must'),
    (lambda: BUCKETS.bucket(24, 1), 'has 24 tokens but the largest size is 23'),
    (lambda: BUCKETS.bucket(1, 8), 'has 8 units but the largest size is 7'),
    (
      lambda: batches([], BUCKETS, steps=1, batch_size=0),
      'is 0 but must be positive',
    ),
  ],
)
def test_bad_sizes_are_named(call, message):
  with pytest.raises(InputError, match=message):
    call()


@pytest.mark.parametrize(
  ('record', 'message'),
  [
    (make_record([6]), 'tokens of a record has 6 entries but only 5 fit'),
    (make_record([1] * 4), 'a record has 4 units but the largest size is 3'),
    (make_record([1], plan=[1]), 'plan has unit 1 but the record has 1 units'),
    (
      make_record([1], targets=[0, 0, 0]),
      'targets of a record has 3 entries but only 2 fit',
    ),
    (
      {'tokens': [1, 2], 'unit_ids': [0]},
      'a record has 2 tokens but 1 unit_ids',
    ),
  ],
)
def test_bad_records_are_named(record, message):
  with pytest.raises(InputError, match=message):
    pad_batch([record], length=5, units=3, steps=2, batch=1)


def test_too_many_records_for_a_batch():
  with pytest.raises(InputError, match='2 records do not fit 1 rows'):
    pad_batch(2 * [make_record([1])], length=5, units=3, steps=2, batch=1)


def test_gains_are_padded_with_their_record():
  gains = np.arange(6, dtype=np.float32).reshape(2, 3)
  record = {'tokens': [5, 6, 7], 'unit_ids': [0, 1, 2], 'gains': gains}
  arrays = pad_batch([record], length=4, units=5, steps=3, batch=2)
  np.testing.assert_array_equal(arrays['gains'][0, :2, :3], gains)
  assert arrays['gains'].shape == (2, 3, 5)
  assert arrays['gains'].sum() == gains.sum()
  del record['gains']
  plain = pad_batch([record], length=4, units=5, steps=3, batch=2)
  assert 'gains' not in plain
