"""AUC of the next unit, against pairs counted one by one."""

import jax
import numpy as np
import pytest
from flax import linen as nn

from stepwise._errors import InputError
from stepwise.decoding import DecodeConfig
from stepwise.inference import PredictConfig
from stepwise.models import Batch
from stepwise.training import (
  CheckpointConfig,
  ModelSpec,
  auc_evaluator,
  resolve_model,
  selector_task,
)
from stepwise.training._evaluators import area_under_curve
from stepwise.training._input import load_labelled
from tests.training.runs import (
  BUCKETS,
  tiny_config,
  with_validation,
  write_records,
)

MODEL = resolve_model(ModelSpec('hibert_tiny'))
PREDICT = PredictConfig(
  decode=DecodeConfig(max_units=3, beam_size=2, stop_unit=0, never=(1,)),
  batch_size=2,
)


def pairs_won(scores, right, candidates):
  """Comparisons of the right unit with others; a draw is half a win."""
  others = [unit for unit in candidates if unit != right]
  won = [np.sign(scores[right] - scores[unit]) / 2 + 0.5 for unit in others]
  return np.mean(won)


def test_the_area_is_the_share_of_pairs():
  rng = np.random.default_rng(0)
  for _ in range(20):
    scores = rng.integers(0, 4, 7) / 4
    right = int(rng.integers(7))
    found = area_under_curve(scores, right)
    assert found == pytest.approx(pairs_won(scores, right, range(7)))
  # Nobody is compared with what is no candidate, or with nobody.
  assert area_under_curve(np.array([-np.inf, 0.0, -1.0]), 2) == 0.0
  assert area_under_curve(np.array([-np.inf, 0.0]), 1) == 1.0


@pytest.fixture(scope='module')
def records(tmp_path_factory):
  return write_records(tmp_path_factory.mktemp('records'), 3)


@pytest.fixture(scope='module')
def params():
  init = jax.jit(MODEL.build().init)
  variables = init(jax.random.key(0), *MODEL.smallest_inputs())
  return nn.unbox(variables)['params']


def test_auc_is_that_of_every_step_by_itself(records, params):
  run = tiny_config(
    records,
    checkpoints=CheckpointConfig(best_metric='validation/auc', best_mode='max'),
    evaluation=with_validation(records, predict=PREDICT),
  )
  task = selector_task(run)
  batches = task.open_validation().batches(np.arange(4))
  module, areas = MODEL.build(), []

  @jax.jit
  def logits_of(batch, plan):
    memory = module.apply({'params': params}, batch, method='encode')
    return module.apply({'params': params}, memory, plan, method='score')

  for arrays in batches:
    batch = Batch(*(arrays[name] for name in ('tokens', 'unit_ids', 'valid')))
    steps = arrays['targets'].shape[1]
    for step in range(steps):
      plan = np.where(np.arange(steps) < step, arrays['targets'], -1)
      scores = np.asarray(logits_of(batch, plan))
      for row, target in enumerate(arrays['targets'][:, step]):
        if target >= 0:
          real = np.flatnonzero(batch.valid[row])
          others = [unit for unit in real if unit != 1]
          areas.append(pairs_won(scores[row], target, others))
  (evaluate,) = task.open_validation().evaluators
  assert len(areas) == 2 * 3
  found = evaluate(params)
  assert found == {'validation/auc': pytest.approx(np.mean(areas), abs=1e-6)}


def test_a_twin_has_no_next_unit(records):
  twin = MODEL.twin()
  labelled = load_labelled(str(records), MODEL)
  with pytest.raises(InputError, match=r"'validation/auc', but the model is"):
    auc_evaluator(twin, labelled, PREDICT, BUCKETS)
