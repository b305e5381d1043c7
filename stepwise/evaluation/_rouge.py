"""ROUGE of summaries given as sentences.

`rouge-1.5.5` is what the Perl script of that name prints for
`-a -c 95 -m -n 4 -w 1.2`, to its five decimals: WordNet's irregular forms,
Porter's stemmer, ROUGE-L as the union LCS over sentences (`rougeLsum`).
`rouge-score` is what the Python package of that name computes with its stemmer.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
from jaxtyping import Float

from stepwise._errors import InputError
from stepwise._parallel import map_chunks
from stepwise._rouge import (
  ALL_KINDS,
  DEFAULT_METRIC,
  KINDS,
  Counts,
  Metric,
  References,
  Sentences,
  as_references,
  count_kinds,
  find_metric,
)

MEASURES: tuple[str, ...] = ('precision', 'recall', 'f1')
# How several references count: their sum, as the script does, or the best one.
SEVERAL = ('average', 'best')


def rouge(
  prediction: Sentences,
  references: References,
  metric: str = DEFAULT_METRIC,
  *,
  kinds: Sequence[str] = KINDS,
  several: str = 'average',
  jackknife: bool = False,
) -> Float[np.ndarray, 'kinds 3']:
  """`[kinds, MEASURES]` between 0 and 1; zeros if either text has no words.

  Args:
    prediction: sentences; a newline inside one begins another.
    references: sentences of one reference, or a list of those of each.
    metric: a name in `METRICS`. `rouge-1.5.5` drops letters that are not ASCII,
      `rouge-1.5.5-unicode` keeps every script and equals it on ASCII text.
    kinds: names in `ALL_KINDS`: `rougeL` takes each text for one sentence,
      `rougeLsum` is the script's ROUGE-L and `rougeW` its ROUGE-W-1.2.
    several: `average`, the script's default, adds the counts of all references;
      `best` takes the one of highest recall, its `-f B`.
    jackknife: leave one of several references out, each in turn, and take the
      mean, as the script's notes advise where humans are scored beside systems.
  """
  check_measuring(metric, several, kinds)
  measured = find_metric(metric)
  text = _tokens(prediction, measured)
  counts = [
    count_kinds(text, _tokens(reference, measured), kinds)
    for reference in as_references(references)
  ]
  scores = [
    [_score(subset, measured, several) for subset in _subsets(row, jackknife)]
    for row in zip(*counts, strict=True)
  ]
  return np.array(scores).mean(1)


def rouge_scores(
  predictions: Sequence[Sentences],
  references: Sequence[References],
  metric: str = DEFAULT_METRIC,
  *,
  kinds: Sequence[str] = KINDS,
  several: str = 'average',
  jackknife: bool = False,
  processes: int = 1,
) -> Float[np.ndarray, 'documents kinds 3']:
  """`rouge` of every prediction with the references of the same index."""
  if len(predictions) != len(references):
    raise InputError(
      f'There are {len(predictions)} predictions but {len(references)} '
      'references: one prediction for each reference is needed.'
    )
  score = partial(
    rouge, metric=metric, kinds=kinds, several=several, jackknife=jackknife
  )
  chunks = map_chunks(
    partial(_score_chunk, score),
    zip(predictions, references, strict=True),
    processes=processes,
    chunk_size=256,
  )
  scores = [score for chunk in chunks for score in chunk]
  return np.array(scores).reshape(-1, len(kinds), len(MEASURES))


def check_measuring(
  metric: str, several: str, kinds: Sequence[str] = KINDS
) -> None:
  """Complains about names that `rouge` does not know."""
  find_metric(metric)
  for kind in kinds:
    if kind not in ALL_KINDS:
      raise InputError(
        f'kind is {kind!r} but must be one of {list(ALL_KINDS)}.'
      )
  if several not in SEVERAL:
    raise InputError(
      f'several is {several!r} but must be one of {list(SEVERAL)}.'
    )


def _tokens(sentences: Sentences, metric: Metric) -> list[list[str]]:
  tokenize = metric.tokenize
  return [tokenize(line) for text in sentences for line in text.split('\n')]


def _subsets(
  counts: tuple[Counts, ...], jackknife: bool
) -> list[tuple[Counts, ...]]:
  """All references together, or all but one, each left out once."""
  if not jackknife or len(counts) == 1:
    return [counts]
  return [counts[:left] + counts[left + 1 :] for left in range(len(counts))]


def _score(
  counts: tuple[Counts, ...], metric: Metric, several: str
) -> tuple[float, float, float]:
  """Precision, recall and F1."""
  if several == 'best':
    chosen = max(counts, key=lambda count: _round(count.merit, metric))
  else:
    chosen = Counts(
      sum(count.hits for count in counts),
      sum(count.wanted for count in counts),
      sum(count.given for count in counts),
      counts[0].power,
    )
  precision = _round(chosen.precision, metric)
  recall = _round(chosen.recall, metric)
  both = precision + recall
  f1 = 2 * precision * recall / both if both else 0.0
  return precision, recall, _round(f1, metric)


def _round(score: float, metric: Metric) -> float:
  return score if metric.decimals is None else round(score, metric.decimals)


def _score_chunk(
  score: partial[Float[np.ndarray, 'kinds 3']],
  pairs: list[tuple[Sentences, References]],
) -> list[Float[np.ndarray, 'kinds 3']]:
  return [score(prediction, references) for prediction, references in pairs]
