"""Centrality equals a plain solution of its definition."""

import math
import tracemalloc

import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.ranking import METHODS, fit_words, rank, take_best
from stepwise.ranking import _rank as ranking

UNITS = [
  'The harbour reopened on Monday after a week of storms.',
  'Nobody had expected that.',
  'Fishing boats left the harbour before dawn on Monday.',
  'The mayor thanked the crews who had cleared the harbour.',
  'Storms are common in autumn.',
  'Hm!',
  '...',
]
THRESHOLD = 0.1
GRAPHS = ['lexrank', 'textrank']


def words(unit):
  """These texts have no word that stemming would change into another."""
  return ''.join(c if c.isalpha() else ' ' for c in unit.lower()).split()


def plain_lexrank(units):
  lines = [words(unit) for unit in units]

  def weight(line, word):
    found = sum(word in other for other in lines)
    return line.count(word) * math.log(len(lines) / found)

  def cosine(a, b):
    dot = sum(weight(a, word) * weight(b, word) for word in {*a} & {*b})
    norms = [sum(weight(x, word) ** 2 for word in {*x}) for x in (a, b)]
    return dot / math.sqrt(norms[0] * norms[1]) if all(norms) else 0

  return [
    [float(a is not b and cosine(a, b) > 0.1) for b in lines] for a in lines
  ]


def plain_textrank(units):
  lines = [words(unit) for unit in units]
  return [
    [
      len({*a} & {*b}) / (math.log(len(a)) + math.log(len(b)))
      if a is not b and min(len(a), len(b)) > 1
      else 0.0
      for b in lines
    ]
    for a in lines
  ]


def stationary(links):
  """Solves for the scores instead of walking."""
  links = np.array(links)
  size = len(links)
  degrees = links.sum(1, keepdims=True)
  steps = np.divide(
    links, degrees, out=np.full_like(links, 1 / size), where=degrees > 0
  )
  left = np.eye(size) - 0.85 * steps.T
  return np.linalg.solve(left, np.full(size, 0.15 / size))


@pytest.mark.parametrize('common', [0, 2, 1000])
@pytest.mark.parametrize(
  ('method', 'plain'),
  [('lexrank', plain_lexrank), ('textrank', plain_textrank)],
)
def test_scores_solve_the_definition(method, plain, common, monkeypatch):
  """Whether products are those of a matrix, of pairs, or of both."""
  monkeypatch.setattr(ranking, '_COMMON', common)
  monkeypatch.setattr(ranking, '_BLOCK', 3)
  np.testing.assert_allclose(
    rank(UNITS, method), stationary(plain(UNITS)), rtol=0, atol=1e-6
  )


@pytest.mark.parametrize('method', METHODS)
def test_scores_are_a_distribution(method):
  scores = rank(UNITS, method)
  assert scores.sum() == pytest.approx(1)
  assert (scores > 0).all()


@pytest.mark.parametrize('method', GRAPHS)
def test_the_order_of_units_does_not_matter(method):
  order = [3, 0, 6, 2, 5, 1, 4]
  shuffled = rank([UNITS[i] for i in order], method)
  np.testing.assert_allclose(shuffled, rank(UNITS, method)[order], atol=1e-6)


@pytest.mark.parametrize('method', GRAPHS)
def test_blocks_do_not_matter(method, monkeypatch):
  whole = rank(UNITS, method)
  monkeypatch.setattr(ranking, '_BLOCK', 3)
  np.testing.assert_allclose(rank(UNITS, method), whole, atol=1e-6)


@pytest.mark.parametrize('method', GRAPHS)
def test_words_of_other_scripts_are_shared(method):
  units = ['Весна пришла рано.', 'Снег лежит.', 'Весна и тепло.', 'Тепло тут.']
  scores = rank(units, method)
  assert scores.argmax() == 2
  assert scores.argmin() == 1


def test_lead_prefers_the_first():
  assert take_best(rank(UNITS, 'lead'), 3) == [0, 1, 2]


@pytest.mark.parametrize('method', METHODS)
@pytest.mark.parametrize('units', [[], ['One.'], ['', ''], ['Same.'] * 3])
def test_few_or_empty_units(method, units):
  scores = rank(units, method)
  assert scores.shape == (len(units),)
  assert np.isfinite(scores).all()


def test_unknown_methods_are_refused():
  with pytest.raises(InputError, match="method is 'best' but must be one of"):
    rank(UNITS, 'best')


def test_of_equal_units_the_first_is_taken():
  assert take_best(np.array([0.1, 0.3, 0.3, 0.3]), 2) == [1, 2]


def test_words_are_filled_up_by_later_units_that_fit():
  scores = np.array([0.1, 0.2, 0.3, 0.4])
  sizes = [2, 50, 9, 10]
  assert fit_words(scores, sizes, 21) == [0, 2, 3]
  assert fit_words(scores, sizes, 71) == [0, 1, 2, 3]


def test_where_nothing_fits_the_shortest_is_taken():
  assert fit_words(np.array([0.5, 0.5]), [9, 7], 3) == [1]
  assert fit_words(np.zeros(0), [], 3) == []


@pytest.mark.parametrize('method', GRAPHS)
def test_long_documents_are_ranked_in_parts(method, monkeypatch):
  monkeypatch.setattr(ranking, 'GRAPH_UNITS', 4)
  first, rest = rank(UNITS[:4], method), rank(UNITS[4:], method)
  expected = np.concatenate([first * 4 / 7, rest * 3 / 7])
  np.testing.assert_allclose(rank(UNITS, method), expected, rtol=1e-6)
  lead = rank(UNITS, 'lead')
  assert lead.tolist() == sorted(lead, reverse=True)


@pytest.mark.parametrize('method', GRAPHS)
def test_memory_is_not_quadratic(method, monkeypatch):
  """A graph of all pairs would have nine million bytes."""
  monkeypatch.setattr(ranking, 'GRAPH_UNITS', 100)
  units = [f'rain fell on day {day}' for day in range(1500)]
  tracemalloc.start()
  rank(units, method)
  _, peak = tracemalloc.get_traced_memory()
  tracemalloc.stop()
  assert peak < 1500 * 1500 * 2
