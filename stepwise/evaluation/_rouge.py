"""ROUGE-1, ROUGE-2 and summary-level ROUGE-L of summaries given as sentences.

The numbers are those of `rouge-score` with its stemmer, which follows
ROUGE-1.5.5 with `-a -c 95 -m -n 4 -w 1.2` (`-w` only weights ROUGE-W): words
are lower-cased and stemmed, ROUGE-L is the union LCS over sentences.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
from jaxtyping import Float

from stepwise._errors import InputError
from stepwise._parallel import map_chunks
from stepwise._rouge import KINDS, TOKENIZERS, measure_overlap

MEASURES: tuple[str, ...] = ('precision', 'recall', 'f1')

Sentences = Sequence[str]

__all__ = ['KINDS', 'MEASURES', 'Sentences', 'rouge', 'rouge_scores']


def rouge(
  prediction: Sentences, reference: Sentences, tokenization: str = 'ascii'
) -> Float[np.ndarray, '3 3']:
  """`[KINDS, MEASURES]` between 0 and 1; zeros if either text has no words.

  `ascii` tokens are those of `rouge-score`, which drops all other letters;
  `unicode` keeps every script and equals it on ASCII text.
  """
  if tokenization not in TOKENIZERS:
    raise InputError(
      f'tokenization is {tokenization!r} but must be one of {list(TOKENIZERS)}.'
    )
  overlap = measure_overlap(prediction, reference, TOKENIZERS[tokenization])
  with_words = np.flatnonzero(overlap.sizes)
  return overlap.score_sets(with_words[None])[0]


def rouge_scores(
  predictions: Sequence[Sentences],
  references: Sequence[Sentences],
  *,
  tokenization: str = 'ascii',
  processes: int = 1,
) -> Float[np.ndarray, 'documents 3 3']:
  """`rouge` of every prediction with the reference of the same index."""
  if len(predictions) != len(references):
    raise InputError(
      f'There are {len(predictions)} predictions but {len(references)} '
      'references: one prediction for each reference is needed.'
    )
  chunks = map_chunks(
    partial(_score_chunk, tokenization),
    zip(predictions, references, strict=True),
    processes=processes,
    chunk_size=256,
  )
  scores = [score for chunk in chunks for score in chunk]
  return np.array(scores).reshape(-1, len(KINDS), len(MEASURES))


def _score_chunk(
  tokenization: str, pairs: list[tuple[Sentences, Sentences]]
) -> list[Float[np.ndarray, '3 3']]:
  return [rouge(prediction, ref, tokenization) for prediction, ref in pairs]
