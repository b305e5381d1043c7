"""Systems that `stepwise evaluate` can name: built-in baselines and files."""

import re
import sys
from collections.abc import Sequence
from functools import partial
from itertools import chain
from pathlib import Path

from stepwise._errors import InputError
from stepwise._parallel import map_chunks
from stepwise.data import (
  OracleOptions,
  Reference,
  document_oracles,
  pair_predictions,
  read_predictions,
)
from stepwise.documents import Document, count_words
from stepwise.evaluation import NamedSummaries
from stepwise.ranking import METHODS, fit_words, rank, take_best

_RANKED = re.compile(
  rf'(?P<method>{"|".join(METHODS)})(:(?P<size>[1-9]\d*)(?P<words>w?))?'
)
_ORACLE = re.compile(r'oracle(:(?P<pieces>[1-9]\d*))?')
_SENTENCES = 3


def load_system(
  name: str,
  references: Sequence[Reference],
  *,
  rows: Sequence[int],
  metric: str = 'rouge-1.5.5',
  processes: int = 1,
) -> NamedSummaries:
  """Summaries of the chosen rows of a references' file.

  Args:
    name: `lead:3` (the first three sentences), `textrank:3`, `lexrank:3` (the
      most central ones), `lead:200w` and so on (those that fit into 200 words),
      `oracle` (the best ones), `oracle:512` (the best of those that fit 512
      word pieces), a file of predictions, or - for standard input.
    references: all of the references' file.
    rows: those to summarise.
    metric: with which oracles measure ROUGE.
    processes: among which the work is shared out.
  """
  ranked, oracle = _RANKED.fullmatch(name), _ORACLE.fullmatch(name)
  if not ranked and not oracle:
    return _from_file(name, [r.document for r in references], rows)
  documents = [references[row].document for row in rows]
  if not any(document.spans for document in documents):
    raise InputError(
      f'{name} chooses sentences of articles but the references have none.'
    )
  if oracle:
    pieces = int(oracle['pieces']) if oracle['pieces'] else None
    options = OracleOptions(max_tokens=pieces, metric=metric)
    found = document_oracles(
      documents,
      options,
      references=[references[row].summaries for row in rows],
      processes=processes,
    )
    chosen = [oracle.indices for oracle in found]
  else:
    assert ranked, 'the one or the other'
    size = int(ranked['size'] or _SENTENCES)
    choose = partial(_rank_chunk, ranked['method'], size, bool(ranked['words']))
    chunks = map_chunks(choose, documents, processes=processes)
    chosen = list(chain.from_iterable(chunks))
  return NamedSummaries(
    name,
    [
      [document.units[unit] for unit in units]
      for document, units in zip(documents, chosen, strict=True)
    ],
  )


def _rank_chunk(
  method: str, size: int, in_words: bool, documents: list[Document]
) -> list[list[int]]:
  chosen = []
  for document in documents:
    units = document.units
    scores = rank(units, method)
    if in_words:
      words = [count_words(unit) for unit in units]
      chosen.append(fit_words(scores, words, size))
    else:
      chosen.append(take_best(scores, size))
  return chosen


def _from_file(
  name: str, documents: Sequence[Document], rows: Sequence[int]
) -> NamedSummaries:
  lines = None
  if name == '-':
    name, lines = 'standard input', sys.stdin.buffer
  elif not Path(name).is_file():
    raise InputError(
      f'{name}: neither a file of predictions nor one of lead:N, textrank:N, '
      'lexrank:N (or :Nw for N words), oracle, oracle:N.'
    )
  found = read_predictions(name, lines=lines)
  predictions = pair_predictions(name, found, documents)
  chosen = [predictions[row] for row in rows]
  return NamedSummaries(
    name,
    [prediction.sentences for prediction in chosen],
    errors=sum(bool(prediction.error) for prediction in chosen),
  )
