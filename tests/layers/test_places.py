import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stepwise.layers._modules import Embedding
from stepwise.layers._places import (
  count_units,
  draw_excerpts,
  read_between,
  spread_places,
)
from tests.layers.parameters import draw

ROWS, REACH, EMBED = 11, 43, 3
KEPT = 5


def loop_places(count, rows=ROWS, of=None, skipped=0):
  """Of one document of `count` units, `of` so many of a longer one."""
  of = of or count
  step = 1 if of <= rows else (rows - 1 - KEPT) / (of - 1 - KEPT)
  return [
    i if i < KEPT else KEPT + (i - KEPT + skipped) * step for i in range(count)
  ]


def test_documents_that_fit_have_whole_places():
  places = spread_places(jnp.array([0.0, 1, 7, ROWS]), ROWS, ROWS)
  for row in places:
    np.testing.assert_array_equal(row, np.arange(ROWS))


@pytest.mark.parametrize('count', [ROWS + 1, 17, 29, REACH])
def test_longer_ones_equal_a_loop(count):
  (places,) = spread_places(jnp.array([float(count)]), count, ROWS)
  np.testing.assert_allclose(places, loop_places(count), rtol=1e-6)
  np.testing.assert_array_equal(places[:KEPT], np.arange(KEPT))
  assert (np.diff(places) > 0).all()
  np.testing.assert_allclose(places[-1], ROWS - 1, rtol=1e-6)


def test_padding_has_no_influence():
  counts = jnp.array([7.0, 29])
  narrow, wide = (spread_places(counts, slots, ROWS) for slots in (29, 37))
  np.testing.assert_array_equal(narrow, wide[:, :29])
  assert wide.max() <= ROWS - 1


def test_units_are_counted_up_to_the_last():
  mask = np.zeros((3, 7), bool)
  mask[0, [0, 1, 4]] = mask[1] = True
  np.testing.assert_array_equal(count_units(jnp.asarray(mask)), [5, 7, 0])


def test_drawn_documents_are_parts_of_longer_ones():
  counts = jnp.repeat(jnp.array([3.0, 7, 17, REACH]), 257)
  found = draw_excerpts(jax.random.key(0), counts, ROWS, REACH)
  assert (found.counts >= counts).all()
  assert (found.counts <= REACH + 1e-3).all()
  assert (found.skipped >= 0).all()
  as_they_are = np.asarray((found.counts == counts) & (found.skipped == 0))
  assert 0.4 < as_they_are[counts < REACH].mean() < 0.6
  places = np.asarray(spread_places(found.counts, REACH, ROWS, found.skipped))
  for row, count in zip(places, counts.astype(int), strict=True):
    np.testing.assert_array_equal(row[:KEPT], np.arange(KEPT))
    assert (np.diff(row[:count]) > 0).all()
  assert places.max() <= ROWS - 1
  # What has no unit beyond the kept rows is always as it is.
  np.testing.assert_array_equal(places[0, :3], np.arange(3))
  # Whatever is asked at inference is drawn: far ends, and narrow steps.
  moved = places[257:514]
  assert moved[:, 6].max() > ROWS - 2
  steps = moved[:, 6] - moved[:, 5]
  least = (ROWS - 1 - KEPT) / (REACH - 1 - KEPT)
  assert least <= steps.min() + 1e-5
  assert steps.min() < 1.2 * least


def test_an_excerpt_equals_a_loop():
  given = jnp.array([29.0]), 7, ROWS, jnp.array([3.0])
  (places,) = spread_places(*given)
  wanted = loop_places(7, of=29, skipped=3)
  np.testing.assert_allclose(places, wanted, rtol=1e-6)


def between(variables, places):
  table = Embedding(ROWS, EMBED, ('positions', 'embed'))
  return table.apply(variables, places, method=read_between)


def drawn_table():
  return draw(Embedding(ROWS, EMBED, ('positions', 'embed')), jnp.zeros(2, int))


def test_reading_between_rows_is_linear():
  variables = drawn_table()
  rows = np.asarray(variables['params']['embedding'])
  places = np.array([[0, 0.25, 3.5, 7], [9.75, ROWS - 1, 2, 5.125]], np.float32)
  wanted = np.stack(
    [np.interp(places, np.arange(ROWS), column) for column in rows.T], axis=-1
  )
  found = between(variables, jnp.asarray(places))
  np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
  # Whole places are rows, to the bit.
  np.testing.assert_array_equal(found[0, 3], rows[7])
  np.testing.assert_array_equal(found[1, 1], rows[-1])


def test_gradients_reach_both_neighbours():
  def total(variables):
    return between(variables, jnp.array([[3.25, 10.0]])).sum()

  gradient = jax.grad(total)(drawn_table())['params']['embedding']
  wanted = np.zeros((ROWS, EMBED))
  wanted[3], wanted[4], wanted[10] = 0.75, 0.25, 1
  np.testing.assert_allclose(gradient, wanted)
