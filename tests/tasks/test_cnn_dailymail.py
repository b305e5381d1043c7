import importlib
import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
import seqio
import tensorflow as tf
import tensorflow_datasets as tfds

from stepwise._errors import InputError
from stepwise.data import byte_level_bpe
from stepwise.tasks import cnn_dailymail
from tests.tasks.stories import STORIES, write_stories

SPLITS = ('train', 'validation', 'test')
KINDS = ('stepwise', 'stepwise_sampled', 'stepwise_all', 'extractive')


@pytest.fixture
def folder(tmp_path, monkeypatch):
  """A folder as $STEPWISE_DATA should be."""
  monkeypatch.setenv('STEPWISE_DATA', str(tmp_path))
  (tmp_path / 'cnn_dailymail').mkdir()
  for split in SPLITS:
    write_stories(tmp_path / 'cnn_dailymail' / f'{split}.jsonl')
  return tmp_path


def write_vocabulary(folder):
  """Bytes alone, without merges."""
  folder.mkdir()
  pieces = ['<s>', '<pad>', '</s>', '<unk>', *map(chr, range(33, 127)), 'Ġ']
  pieces += [chr(code) for code in range(161, 324) if chr(code) != 'Ġ']
  vocabulary = {piece: index for index, piece in enumerate(pieces)}
  (folder / 'vocab.json').write_text(json.dumps(vocabulary))
  (folder / 'merges.txt').write_text('#version: 0.2\n')


def examples(task, split, **options):
  dataset = seqio.TaskRegistry.get(task).get_dataset(
    None, split, shuffle=False, **options
  )
  return list(dataset.as_numpy_iterator())


def fingerprints(rows):
  """Examples as a sorted list that can be compared."""
  return sorted(
    tuple((name, np.asarray(row[name]).tobytes()) for name in sorted(row))
    for row in rows
  )


def test_importing_again_registers_again():
  importlib.reload(cnn_dailymail)
  names = {
    f'cnn_dailymail_{kind}{end}'
    for kind in KINDS
    for end in ('', '_bpe', '_jsonl', '_bpe_jsonl')
  }
  found = seqio.TaskRegistry.names()
  registered = {name for name in found if name.startswith('cnn_dailymail')}
  # Those of masked documents are of another module.
  assert {name for name in registered if 'pretraining' not in name} == names


def test_the_version_is_the_current_one_of_tfds():
  source = seqio.TaskRegistry.get('cnn_dailymail_stepwise').source
  version = tfds.builder_cls('cnn_dailymail').VERSION
  assert source.tfds_dataset.name == f'cnn_dailymail:{version}'
  assert tuple(source.splits) == SPLITS


def test_tfds_articles_give_the_examples_of_files(folder, monkeypatch):
  rows = [row for row in STORIES if isinstance(row['article'], str)]
  write_stories(folder / 'cnn_dailymail' / 'train.jsonl', rows)
  columns = {key: [row[key] for row in rows] for key in rows[0]}
  loader = seqio.utils.LazyTfdsLoader
  monkeypatch.setattr(loader, 'size', lambda self, split: len(rows))
  monkeypatch.setattr(
    loader,
    'load',
    lambda *args, **kwargs: tf.data.Dataset.from_tensor_slices(columns),
  )
  for kind in ('stepwise', 'extractive'):
    found = examples(f'cnn_dailymail_{kind}', 'train')
    wanted = examples(f'cnn_dailymail_{kind}_jsonl', 'train')
    assert fingerprints(found) == fingerprints(wanted)


def test_bpe_ids_are_those_of_the_given_vocabulary(folder):
  cnn_dailymail.bpe.cache_clear()
  write_vocabulary(folder / 'roberta')
  [row, *_] = examples('cnn_dailymail_extractive_bpe_jsonl', 'test')
  tokenizer = byte_level_bpe(
    folder / 'roberta' / 'vocab.json', folder / 'roberta' / 'merges.txt'
  )
  [ids] = tokenizer.encode_units(['The ferry left the harbour at dawn.'])
  assert row['tokens'][: len(ids)].tolist() == ids
  cnn_dailymail.bpe.cache_clear()


def test_the_folder_of_the_vocabulary_must_be_named(monkeypatch):
  cnn_dailymail.bpe.cache_clear()
  monkeypatch.delenv('STEPWISE_DATA', raising=False)
  with pytest.raises(InputError, match='STEPWISE_DATA is not set'):
    cnn_dailymail.bpe()


def test_without_files_the_path_is_named(monkeypatch):
  monkeypatch.delenv('STEPWISE_DATA', raising=False)
  with pytest.raises(
    InputError, match=r'\$STEPWISE_DATA/cnn_dailymail/test.jsonl: no such file'
  ):
    examples('cnn_dailymail_stepwise_jsonl', 'test')


@pytest.fixture
def cache(tmp_path):
  yield tmp_path / 'cache'
  seqio.set_global_cache_dirs([])


@pytest.mark.slow
def test_a_beam_job_caches_tokens_and_oracles(folder, cache, monkeypatch):
  tasks = [f'cnn_dailymail_{kind}_jsonl' for kind in ('stepwise', 'extractive')]
  wanted = {
    (task, split): examples(task, split) for task in tasks for split in SPLITS
  }
  subprocess.run(
    [
      *(sys.executable, '-m', 'seqio.scripts.cache_tasks_main'),
      f'--tasks={",".join(tasks)}',
      f'--output_cache_dir={cache}',
      '--module_import=stepwise.tasks',
      '--min_shards=2',
    ],
    check=True,
  )
  # From now on nothing but the cache can be read, and no oracle be searched.
  shutil.rmtree(folder / 'cnn_dailymail')
  monkeypatch.delattr('stepwise.tasks._preprocessors.document_oracle')
  seqio.set_global_cache_dirs([str(cache)])
  for (task, split), rows in wanted.items():
    found = examples(task, split, use_cached=True)
    assert fingerprints(found) == fingerprints(rows)
