import subprocess
import sys

import numpy as np
import pytest
import seqio
import tensorflow as tf

from stepwise._errors import InputError
from stepwise.data import RecordOptions, wordpiece
from stepwise.tasks import register_jsonl_tasks
from tests.tasks.stories import write_stories


def lengths_of(task):
  examples = seqio.TaskRegistry.get(task).get_dataset(
    None, 'train', shuffle=False
  )
  return [len(example['tokens']) for example in examples.as_numpy_iterator()]


def test_tasks_have_the_features_of_the_schema(tmp_path):
  files = {'train': write_stories(tmp_path / 'stories.jsonl')}
  names = register_jsonl_tasks('mine', files, suffix='_short')
  assert names == [
    'mine_stepwise_short',
    'mine_stepwise_sampled_short',
    'mine_stepwise_all_short',
    'mine_extractive_short',
  ]
  for name in names:
    task = seqio.TaskRegistry.get(name)
    assert set(task.output_features) == {
      'tokens',
      'unit_ids',
      'plan',
      'targets',
    }
    assert task.supports_caching
    for feature in task.output_features.values():
      assert (feature.dtype, feature.rank) == (tf.int32, 1)


def test_a_task_that_is_registered_again_is_replaced(tmp_path):
  files = {'train': write_stories(tmp_path / 'stories.jsonl')}
  task = register_jsonl_tasks('twice', files)[2]
  whole = lengths_of(task)
  records = RecordOptions(max_units=4)
  assert register_jsonl_tasks('twice', files, records=records)[2] == task
  assert np.all(np.array(lengths_of(task)) <= whole)
  assert lengths_of(task) != whole


def test_the_tokeniser_is_loaded_when_needed(tmp_path):
  calls = []

  def load():
    calls.append(1)
    return wordpiece()

  files = {'train': write_stories(tmp_path / 'stories.jsonl')}
  names = register_jsonl_tasks('lazy', files, tokenizer=load)
  assert not calls
  lengths_of(names[0])
  assert calls


def test_stepwise_records_need_a_stop():
  with pytest.raises(InputError, match='stepwise tasks need `eot`'):
    register_jsonl_tasks(
      'x', {'train': 'x'}, records=RecordOptions(special_units=('beg',))
    )


@pytest.mark.parametrize('missing', ['seqio', 'tensorflow'])
def test_the_extra_that_is_missing_is_named(missing):
  code = (
    'import sys\n'
    f'sys.modules[{missing!r}] = None\n'
    'try:\n'
    '  import stepwise.tasks\n'
    'except ImportError as error:\n'
    '  print(error)\n'
  )
  run = subprocess.run(
    [sys.executable, '-c', code], capture_output=True, text=True, check=True
  )
  assert run.stdout == (
    f"stepwise.tasks needs {missing}: pip install 'stepwise[tasks]'.\n"
  )
