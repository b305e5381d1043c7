"""Beam transforms without a model: documents in, oracles and records out.

An element of every collection is a part of the input, see `stepwise.beam`. The
work is done by the functions that the command line calls.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import apache_beam as beam
from apache_beam.utils.shared import Shared

from stepwise._errors import InputError
from stepwise.beam._made import Made, write_made
from stepwise.beam._parts import (
  PART_SIZE,
  Documents,
  Part,
  find_sources,
  split_file,
  split_sources,
)
from stepwise.beam._storage import LocalCopy, find_files
from stepwise.data import (
  BuildReport,
  OracleOptions,
  RecordOptions,
  Tokenizer,
  label_documents,
  load_tokenizer,
  oracle_row,
  read_oracles,
  record_line,
)
from stepwise.documents import BadLine

# A sum of a part's reports, but for its bad lines.
_COUNTS = tuple(name for name in asdict(BuildReport()) if name != 'bad_lines')


class FindParts(beam.PTransform):
  """The parts of the files of a path or pattern, or parts that are known.

  Args:
    source: any path that Beam reads, wildcards included, or a folder of stories
      (ends in `/`); or parts.
    size: documents of a part.
    whole_files: every file is one thing, such as a table.
  """

  def __init__(
    self,
    source: str | Sequence[Part],
    size: int = PART_SIZE,
    *,
    whole_files: bool = False,
  ):
    super().__init__()
    self._source, self._size, self._whole = source, size, whole_files

  def expand(self, input_or_inputs: Any) -> Any:
    if not isinstance(self._source, str):
      return input_or_inputs | beam.Create(list(self._source))
    whole, others = split_sources(
      find_sources(self._source), self._size, whole_files=self._whole
    )
    known = input_or_inputs | 'Whole' >> beam.Create(whole)
    found = (
      input_or_inputs
      | 'Files' >> beam.Create(others)
      | beam.FlatMap(split_file, self._size)
    )
    return (known, found) | beam.Flatten() | beam.Reshuffle()


class ReadParts(beam.PTransform):
  """The `Documents` of every part."""

  def expand(self, input_or_inputs: Any) -> Any:
    return input_or_inputs | beam.Map(Documents)


class ReadDocuments(beam.PTransform):
  """The `Documents` of all parts of some files; see `FindParts`."""

  def __init__(self, source: str | Sequence[Part], size: int = PART_SIZE):
    super().__init__()
    self._parts = FindParts(source, size)

  def expand(self, input_or_inputs: Any) -> Any:
    return input_or_inputs | self._parts | ReadParts()


class BadLines(beam.PTransform):
  """The side output: a `BadLine`, with file and line, of all that was bad.

  Of `ReadDocuments`, or of whatever was made of them.
  """

  def expand(self, input_or_inputs: Any) -> Any:
    return input_or_inputs | beam.FlatMap(lambda part: list(part.bad))


class BuildOracles(beam.PTransform):
  """What `stepwise oracle` writes of `Documents`."""

  def __init__(self, options: OracleOptions = OracleOptions()):
    super().__init__()
    self._options = options

  def expand(self, input_or_inputs: Any) -> Any:
    return input_or_inputs | beam.Map(make_oracles, self._options)


class BuildRecords(beam.PTransform):
  """What `stepwise data build` writes of `Documents`.

  Args:
    tokenizer: as `load_tokenizer` takes it.
    options: special units and limits.
    oracles: how to search them, or the files of `stepwise oracle`, all of which
      every worker keeps in memory.
  """

  def __init__(
    self,
    tokenizer: str = 'wordpiece',
    options: RecordOptions = RecordOptions(),
    oracles: OracleOptions | str = OracleOptions(),
  ):
    super().__init__()
    self._load = partial(_load_labels, tokenizer, oracles)
    self._options = options

  def expand(self, input_or_inputs: Any) -> Any:
    work = partial(_make_labelled, self._options)
    return input_or_inputs | beam.ParDo(WithTool(self._load, work, 'records'))


class WriteParts(beam.PTransform):
  """A file of lines for each part that was made; gives their names.

  Args:
    folder: to write to.
    ending: `.jsonl`, `.jsonl.gz`, `.jsonl.zst` or `.parquet`.
  """

  def __init__(self, folder: str, ending: str = '.jsonl'):
    super().__init__()
    self._folder, self._ending = folder, ending

  def expand(self, input_or_inputs: Any) -> Any:
    return input_or_inputs | beam.Map(write_made, self._folder, self._ending)


@dataclass
class _Tool:
  """What a worker loads once, where it can be referred to weakly."""

  value: Any


class WithTool(beam.DoFn):
  """Makes something of a part with what was loaded once in the process."""

  def __init__(
    self, load: Callable[[], Any], work: Callable[..., Made], kind: str
  ):
    super().__init__()
    self._load, self._work, self._kind = load, work, kind
    self._shared = Shared()

  def setup(self) -> None:
    self._tool = self._shared.acquire(lambda: _Tool(self._load()))

  def process(self, element: Any, *args: Any, **kwargs: Any) -> Any:
    try:
      yield self._work(self._tool.value, element)
    except InputError as error:
      # A mistake is told by whoever started the job.
      part = getattr(element, 'part', element)
      yield Made(part, self._kind, error=str(error))


def make_oracles(documents: Documents, options: OracleOptions) -> Made:
  """One line per document that has a summary."""
  rows, bad = [], []
  for line in documents.lines:
    try:
      if isinstance(line.content, InputError):
        raise line.content
      rows.append(oracle_row(line.content, line.number, options))
    except InputError as error:
      bad.append(BadLine(line.file, line.number, str(error)))
  return Made(documents.part, 'oracles', json_lines(rows), tuple(bad))


@dataclass(frozen=True)
class _Labels:
  tokenizer: Tokenizer
  oracles: Any


def _load_labels(tokenizer: str, oracles: OracleOptions | str) -> _Labels:
  if isinstance(oracles, str):
    paths = [file.path for file in find_files(oracles)]
    if not paths:
      raise InputError(f'{oracles}: no such file.')
    found = {}
    for path in paths:
      copy = LocalCopy(path)
      found |= read_oracles(copy.path)
    oracles_by_id: Any = found
  else:
    oracles_by_id = oracles
  return _Labels(load_tokenizer(tokenizer), oracles_by_id)


def _make_labelled(
  options: RecordOptions, labels: _Labels, documents: Documents
) -> Made:
  report = BuildReport()
  good = [
    line.content
    for line in documents.lines
    if not isinstance(line.content, InputError)
  ]
  lines = [
    record_line(record, oracle)
    for record, oracle in label_documents(
      good, labels.tokenizer, options, labels.oracles, report
    )
  ]
  return Made(
    documents.part,
    'records',
    tuple(lines),
    tuple(documents.bad),
    {name: getattr(report, name) for name in _COUNTS},
  )


def json_lines(rows: list[dict[str, Any]]) -> tuple[str, ...]:
  """As `ResumableLines` writes them."""
  return tuple(json.dumps(row, ensure_ascii=False) for row in rows)
