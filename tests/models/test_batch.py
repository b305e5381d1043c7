"""The arrays every model reads, against plain loops."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepwise._errors import InputError
from stepwise.models import Batch
from stepwise.models._batch import concatenate_ragged, take, unit_spans
from tests.layers.parameters import quick_jit

LENGTHS = st.lists(
  st.lists(st.integers(0, 4), min_size=5, max_size=5), min_size=3, max_size=3
)
SPANS = quick_jit(unit_spans, static_argnums=1)
RAGGED = quick_jit(concatenate_ragged, static_argnums=1)
EXAMPLES = settings(max_examples=30, deadline=None, derandomize=True)


def arrays():
  return {
    'tokens': np.zeros((2, 7), np.int32),
    'unit_ids': np.full((2, 7), -1, np.int32),
    'valid': np.zeros((2, 3), bool),
  }


def test_a_batch_of_arrays_leaves_out_what_is_no_field():
  batch = Batch.of(arrays() | {'num_units': np.zeros(2, np.int32)})
  assert batch.tokens.shape == (2, 7)
  assert batch.plan is None
  assert batch.targets is None


def test_a_batch_names_what_it_lacks():
  given = arrays()
  del given['unit_ids'], given['valid']
  with pytest.raises(InputError, match=r"lacks \['unit_ids', 'valid'\]"):
    Batch.of(given)


@EXAMPLES
@given(LENGTHS)
def test_spans_equal_a_loop(lengths):
  """Units without tokens are somewhere, with length 0."""
  unit_ids = np.full((len(lengths), 23), -1)
  for row, units in enumerate(lengths):
    unit_ids[row, : sum(units)] = np.repeat(range(5), units)
  spans = SPANS(unit_ids, 5)
  np.testing.assert_array_equal(spans.length, lengths)
  starts = np.cumsum(lengths, axis=1) - lengths
  real = np.array(lengths) > 0
  np.testing.assert_array_equal(np.asarray(spans.start)[real], starts[real])


@EXAMPLES
@given(LENGTHS, st.sampled_from([1, 11, 23]))
def test_ragged_concatenation_equals_a_loop(lengths, slots):
  ragged = RAGGED(np.array(lengths), slots)
  for row, pieces in enumerate(lengths):
    expected = [(p, o) for p, size in enumerate(pieces) for o in range(size)]
    real = np.asarray(ragged.real[row])
    assert real.tolist() == [s < len(expected) for s in range(slots)]
    found = zip(
      np.asarray(ragged.piece[row])[real],
      np.asarray(ragged.offset[row])[real],
      strict=True,
    )
    assert list(found) == expected[:slots]


def test_take_clips_indices():
  values = jnp.arange(12).reshape(2, 3, 2)
  taken = take(values, jnp.array([[0, 5], [-1, 1]]))
  np.testing.assert_array_equal(taken[0], values[0, jnp.array([0, 2])])
  np.testing.assert_array_equal(taken[1], values[1, :2])
