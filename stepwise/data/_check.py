"""Checks of document files: counts, lengths, duplicates, bad lines."""

import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from stepwise.documents import (
  BadLine,
  Document,
  Splitter,
  read_documents,
  split_sentences,
)


@dataclass(frozen=True)
class Distribution:
  """Summary of a number that every document has."""

  mean: float
  smallest: int
  median: float
  percentile_95: float
  largest: int


@dataclass(frozen=True)
class Duplicate:
  """A document whose text was seen before, here or in an earlier file."""

  id: str
  first_path: str
  first_id: str


@dataclass(frozen=True)
class FileReport:
  """What one file holds.

  Attributes:
    path: the file.
    documents: good ones.
    without_summary: documents without a reference.
    units, words, summary_units: of every document; none if there are none.
      Words are what white space separates.
    duplicates: texts equal up to case and white space.
    bad_lines: everything that could not be read.
  """

  path: str
  documents: int
  without_summary: int
  units: Distribution | None
  words: Distribution | None
  summary_units: Distribution | None
  duplicates: tuple[Duplicate, ...] = ()
  bad_lines: tuple[BadLine, ...] = ()


@dataclass
class _Tally:
  """Counts of one file while it is read."""

  units: list[int] = field(default_factory=list)
  words: list[int] = field(default_factory=list)
  summary_units: list[int] = field(default_factory=list)
  duplicates: list[Duplicate] = field(default_factory=list)
  bad_lines: list[BadLine] = field(default_factory=list)

  def add(self, document: Document) -> None:
    self.units.append(len(document.spans))
    self.words.append(len(document.text.split()))
    self.summary_units.append(len(document.summary))


def check_files(
  paths: Iterable[str | os.PathLike[str]],
  *,
  splitter: Splitter = split_sentences,
) -> list[FileReport]:
  """Reads every file once and reports on it.

  Duplicates are found across all files, so giving the splits of a collection
  together shows what leaks from one into another. A file that cannot be read
  at all is an `InputError`.
  """
  seen: dict[bytes, tuple[str, str]] = {}
  return [_check_file(os.fspath(path), seen, splitter) for path in paths]


def _check_file(
  path: str, seen: dict[bytes, tuple[str, str]], splitter: Splitter
) -> FileReport:
  tally = _Tally()
  documents = read_documents(
    path, splitter=splitter, on_error=tally.bad_lines.append
  )
  for document in documents:
    tally.add(document)
    fingerprint = _fingerprint(document.text)
    if fingerprint in seen:
      tally.duplicates.append(Duplicate(document.id, *seen[fingerprint]))
    else:
      seen[fingerprint] = path, document.id
  return FileReport(
    path=path,
    documents=len(tally.units),
    without_summary=tally.summary_units.count(0),
    units=_describe(tally.units),
    words=_describe(tally.words),
    summary_units=_describe([n for n in tally.summary_units if n]),
    duplicates=tuple(tally.duplicates),
    bad_lines=tuple(tally.bad_lines),
  )


def _fingerprint(text: str) -> bytes:
  normalised = ' '.join(text.casefold().split())
  return hashlib.blake2b(normalised.encode(), digest_size=16).digest()


def _describe(counts: Sequence[int]) -> Distribution | None:
  if not counts:
    return None
  return Distribution(
    mean=float(np.mean(counts)),
    smallest=min(counts),
    median=float(np.median(counts)),
    percentile_95=float(np.percentile(counts, 95)),
    largest=max(counts),
  )
