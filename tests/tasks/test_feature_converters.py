import numpy as np
import pytest
import seqio
import tensorflow as tf

from stepwise._errors import InputError
from stepwise.data import pad_batch
from stepwise.tasks import StepwiseFeatureConverter, register_jsonl_tasks
from tests.tasks.stories import write_stories

LENGTHS = {'tokens': 11, 'unit_ids': 11, 'plan': 5, 'targets': 3}
EXAMPLE = {
  'tokens': [10, 11, 7, 8, 9, 6, 0],
  'unit_ids': [0, 1, 2, 2, 3, 4, 4],
  'plan': [4, 2],
  'targets': [3, 0],
}


def dataset(*examples):
  return tf.data.Dataset.from_generator(
    lambda: iter(examples),
    output_signature={
      name: tf.TensorSpec((None,), tf.int32) for name in EXAMPLE
    },
  )


def convert(converter, *examples, lengths=LENGTHS):
  return list(converter(dataset(*examples), lengths).as_numpy_iterator())


def assert_rows_equal(rows, batch):
  for index, row in enumerate(rows):
    for name, array in row.items():
      assert array.dtype == batch[name].dtype
      np.testing.assert_array_equal(array, batch[name][index])


def test_rows_equal_those_of_a_padded_batch():
  empty = {name: [] for name in EXAMPLE}
  rows = convert(StepwiseFeatureConverter(7), EXAMPLE, empty)
  assert set(rows[0]) == {*EXAMPLE, 'valid'}
  batch = pad_batch([EXAMPLE, empty], length=11, units=7, steps=5, batch=2)
  assert_rows_equal(rows, batch)


def test_shapes_are_static():
  spec = StepwiseFeatureConverter(7)(dataset(EXAMPLE), LENGTHS).element_spec
  shapes = {name: tuple(tensor.shape) for name, tensor in spec.items()}
  assert shapes == {
    'tokens': (11,),
    'unit_ids': (11,),
    'plan': (5,),
    'targets': (5,),
    'valid': (7,),
  }


def test_units_beyond_the_largest_number_are_removed_everywhere():
  [row] = convert(StepwiseFeatureConverter(3), EXAMPLE)
  kept = {
    'tokens': [10, 11, 7, 8],
    'unit_ids': [0, 1, 2, 2],
    'plan': [2],
    'targets': [0],
  }
  assert_rows_equal(
    [row], pad_batch([kept], length=11, units=3, steps=5, batch=1)
  )


@pytest.mark.parametrize('name', ['tokens', 'plan'])
def test_examples_that_do_not_fit_are_an_error(name):
  lengths = {**LENGTHS, name: 1}
  if name == 'tokens':
    lengths['unit_ids'] = 1
  with pytest.raises(
    tf.errors.InvalidArgumentError, match=f'{name}.*has length not'
  ):
    convert(StepwiseFeatureConverter(7), EXAMPLE, lengths=lengths)


def test_lengths_of_tokens_and_unit_ids_must_agree():
  lengths = {**LENGTHS, 'unit_ids': 12}
  with pytest.raises(
    InputError, match='tokens have the length 11 but unit_ids'
  ):
    convert(StepwiseFeatureConverter(7), EXAMPLE, lengths=lengths)


@pytest.mark.parametrize(
  'option', [{'pack': True}, {'pack': False, 'use_custom_packing_ops': True}]
)
def test_packing_is_refused(option):
  with pytest.raises(InputError, match='cannot be packed'):
    StepwiseFeatureConverter(7, **option)


def test_a_model_has_units():
  with pytest.raises(InputError, match='max_units is 0'):
    StepwiseFeatureConverter(0)


def test_a_document_too_long_for_its_task_loses_whole_units(tmp_path):
  files = {'train': write_stories(tmp_path / 'stories.jsonl')}
  task, *_ = register_jsonl_tasks('converted', files)
  lengths = {'tokens': 23, 'unit_ids': 23, 'plan': 4, 'targets': 4}
  [cut, *_] = seqio.get_dataset(
    task,
    lengths,
    dataset_split='train',
    shuffle=False,
    feature_converter=StepwiseFeatureConverter(9),
  ).as_numpy_iterator()
  # Two special units and two sentences, 17 tokens; the third sentence, most of
  # which fits, is gone, and so are the targets behind it.
  assert cut['valid'].sum() == 4
  assert (cut['unit_ids'] >= 0).sum() == 17
  assert cut['targets'].tolist() == [0, -1, -1, -1]
