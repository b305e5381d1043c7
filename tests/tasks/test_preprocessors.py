import functools
import logging

import numpy as np
import pytest
import seqio
import tensorflow as tf

from stepwise._errors import InputError
from stepwise.data import (
  OracleOptions,
  RecordOptions,
  build_records,
  document_oracle,
  extractive_example,
  load_records,
  make_record,
  stepwise_examples,
  wordpiece,
)
from stepwise.documents import read_documents
from stepwise.tasks import register_jsonl_tasks
from stepwise.tasks._preprocessors import parse_articles
from tests.tasks.stories import STORIES, write_stories

SCHEMA = ('tokens', 'unit_ids', 'plan', 'targets')


@pytest.fixture(scope='module')
def path(tmp_path_factory):
  return write_stories(tmp_path_factory.mktemp('stories') / 'stories.jsonl')


@pytest.fixture(scope='module', autouse=True)
def tasks(path):
  files = {'train': path, 'validation': path}
  return register_jsonl_tasks('stories', files)


def examples(task, split='train', lengths=None, **options):
  dataset = seqio.TaskRegistry.get(task).get_dataset(
    lengths, split, shuffle=False, **options
  )
  return list(dataset.as_numpy_iterator())


def expected(path, mode, **limits):
  """The examples that `stepwise.data` makes of a file."""
  found = []
  for document in read_documents(path):
    oracle = document_oracle(document, OracleOptions()).indices
    if mode == 'extractive':
      record = make_record(document, wordpiece(), special_units=(), **limits)
      found.append(extractive_example(record, oracle))
    else:
      record = make_record(document, wordpiece(), **limits)
      found += stepwise_examples(record, oracle, mode)
  return found


def assert_equal(found, wanted):
  assert len(found) == len(wanted)
  for one, other in zip(found, wanted, strict=True):
    for name in SCHEMA:
      assert one[name].dtype == np.int32
      np.testing.assert_array_equal(one[name], other[name])


@pytest.mark.parametrize(
  ('task', 'split', 'mode'),
  [
    ('stories_stepwise', 'train', 'steps'),
    ('stories_stepwise', 'validation', 'all'),
    ('stories_stepwise_sampled', 'validation', 'all'),
    ('stories_stepwise_all', 'train', 'all'),
    ('stories_stepwise_all', 'validation', 'all'),
    ('stories_extractive', 'train', 'extractive'),
    ('stories_extractive', 'validation', 'extractive'),
  ],
)
def test_the_pipeline_equals_the_data_package(path, task, split, mode):
  assert_equal(examples(task, split), expected(path, mode))


@pytest.mark.parametrize('length', [4, 8, 10, 19, 300])
@pytest.mark.parametrize(
  ('task', 'mode'),
  [('stories_stepwise', 'steps'), ('stories_extractive', 'extractive')],
)
def test_documents_are_cut_like_records(path, task, mode, length):
  lengths = {'tokens': length, 'unit_ids': length, 'plan': 9, 'targets': 9}
  found = examples(task, 'train', lengths)
  assert_equal(found, expected(path, mode, max_tokens=length))
  for example in found:
    assert len(example['spans']) == example['unit_ids'].max() + 1


def test_the_special_units_must_fit():
  with pytest.raises(InputError, match='tokens is 2; it must be more than 2'):
    examples('stories_stepwise', lengths={'tokens': 2})


@pytest.mark.parametrize(
  'task', ['stories_stepwise', 'stories_stepwise_sampled']
)
def test_steps_with_longer_plans_are_left_out(path, task):
  all_steps = expected(path, 'steps')
  short = {
    step['plan'].tobytes() for step in all_steps if len(step['plan']) < 2
  }
  found = examples(task, lengths={'plan': 1}, num_epochs=20, seed=0)
  assert {step['plan'].tobytes() for step in found} == short
  assert max(len(step['plan']) for step in all_steps) > 1


def test_labels_that_do_not_fit_are_an_error():
  with pytest.raises(
    tf.errors.InvalidArgumentError, match='length of targets is 1'
  ):
    examples('stories_extractive', lengths={'targets': 1})


def test_sampled_steps_differ_by_epoch_and_repeat_by_seed(path):
  sample = functools.partial(
    examples, 'stories_stepwise_sampled', num_epochs=30
  )
  found = sample(seed=7)
  assert_equal(sample(seed=7), found)
  steps = np.array([len(step['plan']) for step in found]).reshape(30, -1)
  others = np.array([len(step['plan']) for step in sample(seed=8)])
  assert (steps.ravel() != others).any()
  # Every step of every document comes, and nothing else.
  wanted = expected(path, 'steps')
  assert {fingerprint(step) for step in found} == set(map(fingerprint, wanted))
  assert (steps != steps[:1]).any()


def fingerprint(example):
  return tuple(example[name].tobytes() for name in SCHEMA)


def test_limits_of_records_act_as_on_the_command_line(path, tmp_path):
  records = RecordOptions(max_units=4, max_unit_tokens=6)
  names = register_jsonl_tasks('short', {'train': path}, records=records)
  build_records(path, tmp_path / 'records.jsonl', wordpiece(), records)
  wanted = [
    example
    for record, oracle in load_records(tmp_path / 'records.jsonl')
    for example in stepwise_examples(record, oracle, 'steps')
  ]
  assert_equal(examples(names[0]), wanted)
  # Other oracles than those of the whole documents, then cut.
  assert len(wanted) > len(expected(path, 'steps', max_units=4))


def articles(rows):
  """As TFDS gives them: strings, and more features than are needed."""
  columns = {
    key: [row[key] for row in rows] for key in ('article', 'highlights', 'id')
  }
  columns['publisher'] = ['cnn'] * len(rows)
  columns['training'] = [True] * len(rows)
  return tf.data.Dataset.from_tensor_slices(columns)


def test_articles_are_documents():
  rows = [row for row in STORIES if isinstance(row['article'], str)]
  found = list(parse_articles(articles(rows)).as_numpy_iterator())
  assert [row['id'].decode() for row in found] == [row['id'] for row in rows]
  for example, row in zip(found, rows, strict=True):
    assert example['inputs_pretokenized'].decode() == row['article']
    assert example['targets_pretokenized'].decode() == row['highlights']
    assert example['spans'].dtype == np.int32
    assert example['training']


def test_articles_without_text_or_summary_are_left_out(caplog):
  rows = [
    {'id': 'empty', 'article': ' ', 'highlights': 'A summary.'},
    {'id': 'no summary', 'article': 'A text.', 'highlights': ''},
    STORIES[0],
  ]
  with caplog.at_level(logging.WARNING):
    found = list(parse_articles(articles(rows)).as_numpy_iterator())
  assert [row['id'] for row in found] == [b'ferry']
  ours = [r for r in caplog.records if r.name.startswith('stepwise')]
  assert sorted(record.getMessage() for record in ours) == [
    "document 'empty' is left out: 'article' has no text.",
    "document 'no summary' is left out: no summary.",
  ]
