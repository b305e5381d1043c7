"""Sources of documents that know which split is for training.

SeqIO does not tell preprocessors the split they work on, but training wants
single steps where evaluation wants whole documents. So every example carries
`training`, through the cache as well.
"""

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import seqio
import tensorflow as tf

from stepwise._errors import InputError
from stepwise.documents import BadLine, read_documents
from stepwise.tasks._documents import DOCUMENT_SPEC, document_features

TRAINING_SPLIT = 'train'

_logger = logging.getLogger(__name__)


class _MarksTraining:
  """Adds `training` to the examples of a source."""

  def get_dataset(
    self, split: str = TRAINING_SPLIT, *args: Any, **kwargs: Any
  ) -> tf.data.Dataset:
    source: Any = super()
    dataset = source.get_dataset(split, *args, **kwargs)
    training = split == TRAINING_SPLIT
    return dataset.map(lambda example: {**example, 'training': training})


class TfdsArticles(_MarksTraining, seqio.TfdsDataSource):
  """A TFDS dataset with `article`, `highlights` and `id`."""


def _read_file(path: tf.Tensor) -> tf.data.Dataset:
  return tf.data.Dataset.from_generator(
    _documents_of, args=(path,), output_signature=DOCUMENT_SPEC
  )


class DocumentFiles(_MarksTraining, seqio.FileDataSource):
  """Files in any format of `read_documents`, as features of documents.

  Lines that hold no document with a summary are logged and left out. A file is
  a shard: a Beam job prepares as many at the same time as there are files.
  """

  def __init__(
    self,
    files_by_split: Mapping[str, str | Sequence[str]],
    read: Callable[[Any], tf.data.Dataset] = _read_file,
  ):
    """Takes the paths of every split; patterns and variables are expanded.

    Environment variables (`$STEPWISE_DATA/news/train-*.jsonl`) are looked up
    when the files are opened, not before. `read` makes a dataset of a path.
    """
    if not files_by_split:
      raise InputError('files_by_split is empty; at least one split is needed.')
    self._files_by_split = files_by_split
    super().__init__(read, files_by_split)

  def list_shards(self, split: str) -> list[str]:
    """The files of a split; an `InputError` if there are none."""
    patterns = self._files_by_split[split]
    patterns = [patterns] if isinstance(patterns, str) else list(patterns)
    files = seqio.utils.list_files([os.path.expandvars(p) for p in patterns])
    missing = [file for file in files if not os.path.exists(file)]
    if missing or not files:
      raise InputError(
        f'split {split!r}: {" ".join(missing or patterns)}: no such file.'
      )
    return files


def _documents_of(path: bytes) -> Iterator[dict[str, Any]]:
  bad: list[BadLine] = []
  name = path.decode()
  for document in read_documents(name, on_error=bad.append):
    if document.summary:
      yield document_features(document)
    else:
      bad.append(BadLine(name, 0, f'{document.id}: no summary.'))
  for line in bad:
    _logger.warning('%s', line)
  if bad:
    _logger.warning('%s: documents left out: %d.', name, len(bad))
