"""What a selector learns may be drawn and shared; what is measured is not."""

import jax
import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.models import Batch
from stepwise.training import InputConfig
from stepwise.training._input import TrainingBatches, training_examples
from stepwise.training._task import selector_task
from tests.training.runs import BUCKETS, tiny_config, write_records


@pytest.fixture(scope='module')
def records(tmp_path_factory):
  return write_records(tmp_path_factory.mktemp('records'))


def task_of(records, **changes):
  return selector_task(
    tiny_config(
      records, input=InputConfig(str(records), 4, buckets=BUCKETS), **changes
    )
  )


def test_drawn_steps_and_the_rest_are_learnt_and_not_measured(records):
  plain = task_of(records)
  drawn = task_of(records, drawn_steps=1)
  shared = task_of(records, rest_share=0.5)
  late = task_of(records, stop_odds=0.5)
  params = plain.module.init(jax.random.key(0), *plain.dummy())['params']
  examples = training_examples(
    InputConfig(str(records), 4, buckets=BUCKETS), plain.model
  )
  batch = Batch.of(TrainingBatches(examples, 4, seed=0, length=1)[0])
  measured = [t.loss(params, batch) for t in (plain, drawn, shared, late)]
  for sums in measured:
    np.testing.assert_allclose(sums, measured[0])
  rng = jax.random.key(1)
  learnt = [t.loss(params, batch, rng) for t in (plain, drawn, shared, late)]
  assert learnt[1].weight == 4 < learnt[0].weight == learnt[2].weight
  # These plans have one sentence: nothing else is left to say.
  np.testing.assert_allclose(learnt[2].loss, learnt[0].loss)
  assert abs(learnt[3].loss - learnt[0].loss) > 0.1


@pytest.mark.parametrize(
  ('changes', 'message'),
  [
    ({'drawn_steps': -1}, 'drawn_steps is -1, must be at least 0'),
    ({'drawn_stages': 0}, 'drawn_stages is 0, must be at least 1'),
    ({'drawn_stages': 2}, 'drawn_steps is 0, must be a multiple of drawn_st'),
    (
      {'drawn_stages': 2, 'drawn_steps': 3},
      'drawn_steps is 3, must be a multiple of drawn_stages=2',
    ),
    ({'stop_odds': 0.0}, 'stop_odds is 0.0, must be more than 0'),
    ({'rest_share': 1.0}, 'rest_share is 1.0, must be at least 0 and less'),
  ],
)
def test_settings_out_of_range(records, changes, message):
  with pytest.raises(InputError, match=message):
    task_of(records, **changes)


def test_a_rest_share_needs_whole_plans(records):
  sampled = InputConfig(str(records), 4, examples='sample', buckets=BUCKETS)
  with pytest.raises(InputError, match="rest_share needs examples='all'"):
    tiny_config(records, input=sampled, rest_share=0.5)
