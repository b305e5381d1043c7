"""Beam search over tokens against exhaustive and greedy search."""

import dataclasses
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen as nn

from stepwise._errors import InputError
from stepwise.layers import EncoderDecoder, TransformerConfig
from stepwise.realization.learned import (
  NumeralTrie,
  SearchConfig,
  SearchResult,
  TokenClasses,
  check_texts,
  search_texts,
)

VOCAB, END, LENGTH = 7, 1, 4
WORDS = range(2, VOCAB)
CONFIG = TransformerConfig(
  vocab=VOCAB, embed=8, heads=2, mlp=12, layers=2, positions=16
)
MODEL = EncoderDecoder(CONFIG)
apply = jax.jit(MODEL.apply)
INPUTS = jnp.array(
  [[3, 5, 2, 6, 4], [2, 2, 3, 0, 0], [6, 0, 0, 0, 0]], jnp.int32
)
CLASSES = TokenClasses(
  writable=np.arange(VOCAB) >= 2,
  numeral=np.arange(VOCAB) >= 5,
  continues=np.zeros(VOCAB, bool),
)
# The paths 5, and 6 2; in the second row nothing, in the third 5 and 5 6.
TRIES = NumeralTrie(
  sources=np.array([[0, 0, 2], [-1, -1, -1], [0, 1, -1]], np.int32),
  tokens=np.array([[5, 6, 2], [0, 0, 0], [5, 6, 0]], np.int32),
  targets=np.array([[1, 2, 3], [0, 0, 0], [1, 2, 0]], np.int32),
  complete=np.array(
    [
      [True, True, False, True],
      [True, False, False, False],
      [True, True, True, False],
    ]
  ),
)
PATHS = ([(5,), (6, 2)], [], [(5,), (5, 6)])


@pytest.fixture(scope='module')
def params():
  init = jax.jit(MODEL.init)
  variables = init(jax.random.key(3), INPUTS, INPUTS != 0, INPUTS)
  # Larger weights, so that texts differ in probability.
  return jax.tree.map(lambda x: 4 * x, nn.unbox(variables)['params'])


def run(params, inputs=INPUTS, numerals=None, forbidden=None, **options):
  config = SearchConfig(**{'max_tokens': LENGTH, **options})

  @jax.jit
  def search(params, inputs, numerals, forbidden):
    given = {'end': END, 'numerals': numerals, 'forbidden': forbidden}
    return search_texts(MODEL, params, inputs, CLASSES, config, **given)

  return check_texts(search(params, inputs, numerals, forbidden))


def every_text():
  """All texts that fit, without their end."""
  for length in range(LENGTH):
    yield from itertools.product(WORDS, repeat=length)


def may_write(text, paths):
  """Splits a text into free words and paths, in any way that succeeds."""
  if not text:
    return True
  if not CLASSES.numeral[text[0]] and may_write(text[1:], paths):
    return True
  return any(
    text[: len(path)] == path and may_write(text[len(path) :], paths)
    for path in paths
  )


def totals(params, row, texts):
  """Log-probability of texts with their end, without a cache."""
  targets = np.zeros((len(texts), LENGTH), np.int32)
  for i, text in enumerate(texts):
    targets[i, : len(text) + 1] = (*text, END)
  before = np.pad(targets, ((0, 0), (1, 0)))[:, :-1]
  inputs = jnp.repeat(INPUTS[row][None], len(texts), axis=0)
  logits = apply({'params': params}, inputs, inputs != 0, jnp.asarray(before))
  log_probs = np.asarray(jax.nn.log_softmax(logits))
  picked = np.take_along_axis(log_probs, targets[..., None], axis=2)[..., 0]
  return np.where(targets != 0, picked, 0).sum(axis=1)


def best_texts(params, row, alpha, paths=None):
  texts = [
    text for text in every_text() if paths is None or may_write(text, paths)
  ]
  lengths = np.array([len(text) + 1 for text in texts])
  scores = totals(params, row, texts) / lengths**alpha
  order = np.argsort(-scores)
  return [texts[i] for i in order], scores[order]


def written(tokens):
  return tuple(int(token) for token in tokens if token)


@pytest.mark.parametrize('alpha', [0.0, 0.6])
def test_enough_beams_are_exhaustive(params, alpha):
  """Which also proves the cache: the twin decodes without one."""
  result = run(params, beam_size=160, length_alpha=alpha)
  for row in range(len(INPUTS)):
    texts, scores = best_texts(params, row, alpha)
    exists = np.isfinite(result.scores[row])
    assert exists.sum() == len(texts) == 156
    np.testing.assert_allclose(
      result.scores[row][: len(texts)], scores, rtol=1e-4
    )
    found = [written(tokens) for tokens in result.tokens[row][: len(texts)]]
    assert found[:20] == texts[:20]


def test_confined_numerals_are_searched_exhaustively(params):
  result = run(params, numerals=TRIES, beam_size=160, length_alpha=0.0)
  for row, paths in enumerate(PATHS):
    texts, scores = best_texts(params, row, 0.0, paths)
    found = int(np.isfinite(result.scores[row]).sum())
    # At the last position a text ends even inside a path.
    kept = [
      (written(tokens), float(score))
      for tokens, score in zip(
        result.tokens[row][:found], result.scores[row][:found], strict=True
      )
      if may_write(written(tokens), paths)
    ]
    assert [text for text, _ in kept] == texts
    np.testing.assert_allclose([s for _, s in kept], scores, rtol=1e-4)
    # Two words and then the 6 of `6 2`.
    assert found - len(kept) == (17 if row == 0 else 0)


def test_forbidden_tokens_are_not_written(params):
  """Of each row others; all other texts stay as they were."""
  forbidden = np.zeros((len(INPUTS), len(CLASSES.writable)), bool)
  banned = [WORDS[row % len(WORDS)] for row in range(len(INPUTS))]
  forbidden[np.arange(len(INPUTS)), banned] = True
  free = run(params, beam_size=160, length_alpha=0.0)
  result = run(params, beam_size=160, length_alpha=0.0, forbidden=forbidden)
  for row, token in enumerate(banned):
    before, after = (
      {
        written(tokens): float(score)
        for tokens, score in zip(r.tokens[row], r.scores[row], strict=True)
        if np.isfinite(score)
      }
      for r in (free, result)
    )
    left = {text: score for text, score in before.items() if token not in text}
    assert after == pytest.approx(left, rel=1e-4)


def test_one_beam_is_greedy(params):
  result = run(params, beam_size=1)
  for row in range(len(INPUTS)):
    text: tuple[int, ...] = ()
    while len(text) < LENGTH - 1:
      options = [(*text, word) for word in (END, *WORDS)]
      logits = _next(params, row, text)
      best = max(options, key=lambda option: logits[option[-1]])
      if best[-1] == END:
        break
      text = best
    assert written(result.tokens[row, 0]) == text


def _next(params, row, text):
  before = jnp.array([[0, *text]], jnp.int32)
  inputs = INPUTS[row][None]
  logits = apply({'params': params}, inputs, inputs != 0, before)
  return np.asarray(logits)[0, -1]


def test_together_or_one_by_one(params):
  together = run(params, numerals=TRIES, beam_size=3)
  for row in range(len(INPUTS)):
    # Without the padding of the batch, too.
    inputs = INPUTS[row][INPUTS[row] != 0][None]
    tries = jax.tree.map(lambda field, row=row: field[row : row + 1], TRIES)
    alone = run(params, inputs, tries, beam_size=3)
    np.testing.assert_array_equal(alone.tokens[0], together.tokens[row])
    np.testing.assert_allclose(alone.scores[0], together.scores[row], rtol=1e-4)


def test_scanned_layers_write_the_same(params):
  scanned = EncoderDecoder(dataclasses.replace(CONFIG, scan_layers=True))
  stack = dict(params['stack'])
  layers = [stack.pop(f'layers_{i}') for i in range(CONFIG.layers)]
  stack['layers'] = jax.tree.map(lambda *leaves: jnp.stack(leaves), *layers)
  config = SearchConfig(beam_size=2, max_tokens=LENGTH)
  search = jax.jit(
    lambda params: search_texts(
      scanned, params, INPUTS, CLASSES, config, end=END
    )
  )
  result = search({**params, 'stack': stack})
  expected = run(params, beam_size=2)
  np.testing.assert_array_equal(result.tokens, expected.tokens)


def test_broken_weights_are_an_error(params):
  broken = jax.tree.map(lambda x: x * jnp.nan, params)
  with pytest.raises(InputError, match='no finite score for text 0 of the'):
    run(broken, beam_size=2)
  fine = SearchResult(jnp.zeros((1, 1, 1), jnp.int32), jnp.zeros((1, 1)))
  assert check_texts(fine) is fine


@pytest.mark.parametrize('name', ['beam_size', 'max_tokens'])
def test_sizes_are_positive(name):
  with pytest.raises(InputError, match=f'{name} is 0, must be at least 1'):
    SearchConfig(**{name: 0})
