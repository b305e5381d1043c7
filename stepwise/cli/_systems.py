"""Systems that `stepwise evaluate` can name: built-in baselines and files."""

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

from stepwise._errors import InputError
from stepwise._parallel import map_chunks
from stepwise.data import (
  OracleOptions,
  Reference,
  document_oracle,
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
Baseline = Callable[[Reference], list[str]]


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
  choose = find_baseline(name, metric)
  if choose is None:
    return _from_file(name, [r.document for r in references], rows)
  chosen = [references[row] for row in rows]
  check_articles(name, (bool(each.document.spans) for each in chosen))
  chunks = map_chunks(
    partial(_choose_chunk, choose), chosen, processes=processes
  )
  return NamedSummaries(name, list(chain.from_iterable(chunks)))


def find_baseline(name: str, metric: str) -> Baseline | None:
  """A function that chooses sentences of a document; None if it is no name."""
  if oracle := _ORACLE.fullmatch(name):
    pieces = int(oracle['pieces']) if oracle['pieces'] else None
    return partial(_best, OracleOptions(max_tokens=pieces, metric=metric))
  if ranked := _RANKED.fullmatch(name):
    size = int(ranked['size'] or _SENTENCES)
    return partial(_ranked, ranked['method'], size, bool(ranked['words']))
  return None


def check_articles(name: str, present: Iterable[bool]) -> None:
  """Baselines choose from articles, which references may lack."""
  if not any(present):
    raise InputError(
      f'{name} chooses sentences of articles but the references have none.'
    )


def _choose_chunk(
  choose: Baseline, references: list[Reference]
) -> list[list[str]]:
  return [choose(reference) for reference in references]


def _best(options: OracleOptions, reference: Reference) -> list[str]:
  document = reference.document
  found = document_oracle(document, options, reference.summaries)
  return [document.units[unit] for unit in found.indices]


def _ranked(
  method: str, size: int, in_words: bool, reference: Reference
) -> list[str]:
  units = reference.document.units
  scores = rank(units, method)
  if in_words:
    words = [count_words(unit) for unit in units]
    chosen = fit_words(scores, words, size)
  else:
    chosen = take_best(scores, size)
  return [units[unit] for unit in chosen]


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
