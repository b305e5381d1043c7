"""Systems that `stepwise evaluate` can name: built-in baselines and files."""

import re
from collections.abc import Sequence
from functools import partial
from itertools import chain
from pathlib import Path

from stepwise._errors import InputError
from stepwise._parallel import map_chunks
from stepwise.cli._graph_rankers import RANKERS, rank_sentences
from stepwise.data import OracleOptions, document_oracles, read_predictions
from stepwise.documents import Document
from stepwise.evaluation import NamedSummaries

_BUILT_IN = re.compile(
  r'(?P<name>lead|oracle|textrank|lexrank)(:(?P<size>[1-9]\d*))?'
)


def load_system(
  name: str,
  documents: Sequence[Document],
  *,
  rows: Sequence[int],
  metric: str = 'rouge-1.5.5',
  processes: int = 1,
) -> NamedSummaries:
  """Summaries of the chosen rows of a references' file.

  Args:
    name: `lead:3` (the first three sentences), `textrank:3`, `lexrank:3` (the
      most central ones), `oracle` (the best ones), `oracle:512` (the best of
      those that fit 512 word pieces), or a file of predictions, one for every
      document.
    documents: all documents of the references' file.
    rows: those to summarise.
    metric: with which oracles measure ROUGE.
    processes: among which oracles are shared out.
  """
  built_in = _BUILT_IN.fullmatch(name)
  if built_in is None:
    return NamedSummaries(name, _from_file(name, len(documents), rows))
  chosen = [documents[row] for row in rows]
  _check_articles(name, chosen)
  size = int(built_in['size']) if built_in['size'] else None
  if built_in['name'] == 'lead':
    return NamedSummaries(
      name, [document.units[: size or 3] for document in chosen]
    )
  if built_in['name'] in RANKERS:
    rank = partial(_rank_chunk, built_in['name'], size or 3)
    chunks = map_chunks(rank, chosen, processes=processes)
    return NamedSummaries(name, list(chain.from_iterable(chunks)))
  options = OracleOptions(max_tokens=size, metric=metric)
  oracles = document_oracles(chosen, options, processes=processes)
  return NamedSummaries(
    name,
    [
      tuple(document.units[index] for index in oracle.indices)
      for document, oracle in zip(chosen, oracles, strict=True)
    ],
  )


def _rank_chunk(
  ranker: str, count: int, documents: list[Document]
) -> list[tuple[str, ...]]:
  return [
    tuple(
      document.units[index]
      for index in rank_sentences(ranker, document.units, count)
    )
    for document in documents
  ]


def _from_file(
  name: str, needed: int, rows: Sequence[int]
) -> list[tuple[str, ...]]:
  if not Path(name).is_file():
    raise InputError(
      f'{name}: neither a file of predictions nor one of lead:N, textrank:N, '
      'lexrank:N, oracle, oracle:N.'
    )
  predictions = read_predictions(name)
  if len(predictions) != needed:
    raise InputError(
      f'{name} has {len(predictions)} predictions but the references are '
      f'{needed}: one prediction for each reference is needed.'
    )
  return [predictions[row] for row in rows]


def _check_articles(name: str, documents: Sequence[Document]) -> None:
  if not any(document.spans for document in documents):
    raise InputError(
      f'{name} chooses sentences of articles but the references have none.'
    )
