"""Training records of a whole file: read, tokenise, add oracles, write."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import tee
from pathlib import Path

import numpy as np

from stepwise._errors import InputError
from stepwise._files import open_for_reading
from stepwise._rouge import DEFAULT_METRIC
from stepwise.data._oracle_run import OracleOptions, document_oracles
from stepwise.data._record_files import LabelledRecord, save_records
from stepwise.data._records import Record, check_oracle, make_record
from stepwise.data._tokenizers import Tokenizer
from stepwise.documents import BadLine, Document, read_documents


@dataclass(frozen=True)
class RecordOptions:
  """The arguments of `make_record`; see there."""

  special_units: tuple[str, ...] = ('eot', 'beg')
  max_units: int | None = None
  max_tokens: int | None = None
  max_unit_tokens: int | None = None
  reference: bool = False


@dataclass
class BuildReport:
  """What became of the documents of a file.

  Attributes:
    records: written.
    documents_cut: records that lack units at their end.
    units_cut: units they lack together.
    units_shortened: units that lost tokens.
    without_summary: documents left out, as no oracle can be found.
    bad_lines: lines left out.
  """

  records: int = 0
  documents_cut: int = 0
  units_cut: int = 0
  units_shortened: int = 0
  without_summary: int = 0
  bad_lines: list[BadLine] = field(default_factory=list)

  def add(self, record: Record) -> None:
    self.records += 1
    self.documents_cut += record.units_cut > 0
    self.units_cut += record.units_cut
    self.units_shortened += record.units_shortened


def build_records(
  source: str | os.PathLike[str],
  target: str | os.PathLike[str],
  tokenizer: Tokenizer,
  options: RecordOptions = RecordOptions(),
  *,
  oracles: Mapping[str, Sequence[int]] | None = None,
  gains: bool = False,
  method: str = 'greedy',
  metric: str = DEFAULT_METRIC,
  processes: int = 1,
  on_progress: Callable[[int], object] = lambda records: None,
) -> BuildReport:
  """Writes a record with its oracle for every document that has a summary.

  Without `oracles` they are searched among the units that are in the record, so
  that they can be reached.

  Args:
    source: anything `read_documents` reads.
    target: see `save_records`.
    tokenizer: gives the ids.
    options: special units and limits.
    oracles: units of the whole document, by its id.
    gains: keep the oracle in the order of choice, with the gains of all units
      at each step; not with `oracles`.
    method: of the search; see `find_oracle`.
    metric: which the search maximises.
    processes: to share the search for oracles among.
    on_progress: called with the number of records written since the last call.
  """
  report = BuildReport()
  if gains and oracles is not None:
    raise InputError('gains are measured with the oracle: none can be given.')

  def labelled() -> Iterator[LabelledRecord]:
    documents = read_documents(source, on_error=report.bad_lines.append)
    for found in label_documents(
      documents,
      tokenizer,
      options,
      search_options(method, metric, gains) if oracles is None else oracles,
      report,
      processes=processes,
    ):
      on_progress(1)
      yield found

  save_records(target, labelled())
  return report


def search_options(method: str, metric: str, gains: bool) -> OracleOptions:
  """How records search their oracles: gains are those of the choices."""
  order = 'selection' if gains else 'document'
  return OracleOptions(method, order, metric=metric, gains=gains)


def label_documents(
  documents: Iterable[Document],
  tokenizer: Tokenizer,
  options: RecordOptions,
  oracles: OracleOptions | Mapping[str, Sequence[int]],
  report: BuildReport,
  *,
  processes: int = 1,
) -> Iterator[LabelledRecord]:
  """Records with their oracles, searched or given by id; counted in a report.

  Documents without a summary have none to search.
  """
  records = _records(documents, tokenizer, options)
  if isinstance(oracles, OracleOptions):
    found = _search(records, report, oracles, processes)
  else:
    found = ((record, _given(record, oracles)) for record, _ in records)
  for record, oracle in found:
    report.add(record)
    yield record, oracle


def read_oracles(path: str | os.PathLike[str]) -> dict[str, tuple[int, ...]]:
  """Oracles by id, from JSON lines with `id` and `oracle`."""
  oracles: dict[str, tuple[int, ...]] = {}
  with open_for_reading(Path(path)) as stream:
    for number, line in enumerate(stream, start=1):
      try:
        row = json.loads(line)
        name, units = str(row['id']), tuple(int(unit) for unit in row['oracle'])
      except (ValueError, KeyError, TypeError) as error:
        raise InputError(
          f'{path}:{number}: needs `id` and `oracle`, a list of units, as '
          f'`stepwise oracle` writes them ({error!r}).'
        ) from error
      if oracles.setdefault(name, units) != units:
        raise InputError(f'{path}:{number}: another oracle for id {name!r}.')
  return oracles


def _records(
  documents: Iterable[Document], tokenizer: Tokenizer, options: RecordOptions
) -> Iterator[tuple[Record, Document]]:
  """Records, and documents with only the units that are in them."""
  for document in documents:
    record = make_record(
      document,
      tokenizer,
      special_units=options.special_units,
      max_units=options.max_units,
      max_tokens=options.max_tokens,
      max_unit_tokens=options.max_unit_tokens,
      reference=options.reference,
    )
    yield record, document.part(0, record.num_units - record.special)


def _search(
  records: Iterable[tuple[Record, Document]],
  report: BuildReport,
  options: OracleOptions,
  processes: int,
) -> Iterator[LabelledRecord]:
  def with_summary() -> Iterator[tuple[Record, Document]]:
    for record, document in records:
      if document.summary:
        yield record, document
      else:
        report.without_summary += 1

  left, right = tee(with_summary())
  documents = (document for _, document in right)
  oracles = document_oracles(documents, options, processes=processes)
  for oracle, (record, _) in zip(oracles, left, strict=True):
    if oracle.gains is not None:
      special = ((0, 0), (record.special, 0))
      record = replace(record, gains=np.pad(oracle.gains, special))
    yield record, tuple(oracle.indices)


def _given(
  record: Record, oracles: Mapping[str, Sequence[int]]
) -> tuple[int, ...]:
  if record.id not in oracles:
    raise InputError(f'no oracle is given for document {record.id!r}.')
  check_oracle(record, oracles[record.id])
  return tuple(oracles[record.id])
