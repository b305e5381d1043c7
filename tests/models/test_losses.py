"""Losses equal NumPy twins; sums add over steps, rows and micro-batches."""

import dataclasses
import functools
import operator

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen as nn
from scipy.special import log_expit, logsumexp

from stepwise._errors import InputError
from stepwise.models import (
  BEG,
  EOT,
  Batch,
  LossSums,
  cross_entropy,
  extractive_loss,
  late_stop,
  rest_shares,
  step_contexts,
  stepwise_loss,
)
from stepwise.models._losses import _spread_steps
from tests.layers.parameters import draw, dropout_key, quick_jit
from tests.models.documents import make_batch, random_record
from tests.models.tiny_models import CONFIGS, KINDS

RNG = np.random.default_rng(3)
BATCH, STEPS, UNITS = 3, 5, 7


class Table(nn.Module):
  """Scores units by themselves and by the units chosen, at no cost.

  Dropout hits the scores; unit `cut` is treated as cut away.
  """

  cut: int | None = None

  def setup(self):
    self.table = self.param(
      'table', nn.initializers.normal(1), (1 + UNITS, UNITS)
    )
    self.dropout = nn.Dropout(0.5)

  def __call__(self, batch):
    return self.score(self.encode(batch), batch.plan)

  def encode(self, batch, deterministic=True):
    return self.dropout(
      jnp.ones((*batch.valid.shape, 1)), deterministic=deterministic
    )

  def score(self, memory, plan=None, deterministic=True):
    chosen = self.table[:1] * memory[..., 0]
    if plan is not None:
      weight = jnp.arange(1, 1 + plan.shape[1])[None, :, None]
      rows = self.table[plan + 1] * (plan >= 0)[..., None]
      chosen += (rows / weight).sum(axis=1)
    logits = self.dropout(chosen, deterministic=deterministic)
    if self.cut is None:
      return logits
    return jnp.where(jnp.arange(UNITS)[None] == self.cut, -jnp.inf, logits)


def table_logits(table, plan):
  """The score of `Table` for one document, in NumPy."""
  logits = table[0].copy()
  for slot, unit in enumerate(plan):
    logits += table[1 + unit] / (1 + slot)
  return logits


VALID = np.arange(UNITS)[None] < np.array([UNITS, 5, 4])[:, None]
TARGETS = np.array([[3, 2, 6, 5, 0], [4, 0, -1, -1, -1], [0, -1, -1, -1, -1]])
PLAN = np.array([[-1, -1, -1], [2, 3, -1], [2, -1, -1]])
TABLE = RNG.normal(size=(1 + UNITS, UNITS)).astype(np.float32)
PARAMS = {'table': jnp.asarray(TABLE)}
KEYS = [dropout_key(seed) for seed in range(3)]


def table_batch(plan=PLAN, targets=TARGETS, valid=VALID):
  unit_ids = jnp.zeros((len(valid), 2), jnp.int32)
  return Batch(
    unit_ids, unit_ids, *(jnp.asarray(a) for a in (valid, plan, targets))
  )


def table_loss(
  batch, rng=None, loss=stepwise_loss, model=Table(), params=PARAMS, **options
):
  run = compiled(loss, model, tuple(options.items()))
  return run(params, batch, rng)


@functools.cache
def compiled(loss, model, options):
  return quick_jit(functools.partial(loss, model, **dict(options)))


def numpy_stepwise(plan, targets, valid, never=(), table=TABLE):
  """Loss, steps and hits of one document."""
  history = [unit for unit in plan if unit >= 0]
  loss = steps = hits = 0
  for target in targets[targets >= 0]:
    units = [u for u in np.flatnonzero(valid) if u not in never]
    logits = table_logits(table, history)
    loss += logsumexp(logits[units]) - logits[target]
    hits += units[np.argmax(logits[units])] == target
    history.append(target)
    steps += 1
  return np.array([loss, steps, hits])


@pytest.mark.parametrize('never', [(), (BEG,)])
def test_stepwise_loss_equals_numpy(never):
  sums = table_loss(table_batch(), never=never)
  expected = sum(
    numpy_stepwise(*row, never)
    for row in zip(PLAN, TARGETS, VALID, strict=True)
  )
  assert expected[1] == 8
  np.testing.assert_allclose(sums, expected, rtol=1e-5)
  np.testing.assert_allclose(sums.mean, expected[0] / 8, rtol=1e-5)


def test_contexts_are_the_plan_and_the_targets_before():
  contexts = step_contexts(jnp.asarray(PLAN), jnp.asarray(TARGETS))
  assert contexts.shape == (BATCH, STEPS, 3 + STEPS - 1)
  for row in range(BATCH):
    plan, targets = (a[row][a[row] >= 0].tolist() for a in (PLAN, TARGETS))
    for step in range(len(targets)):
      expected = plan + targets[:step]
      found = contexts[row, step]
      assert found.tolist() == expected + [-1] * (7 - len(expected))


def one_step_each():
  """The documents as one example per step, plans filled from slot 0."""
  rows = []
  for plan, targets, valid in zip(PLAN, TARGETS, VALID, strict=True):
    history = plan[plan >= 0].tolist()
    for target in targets[targets >= 0].tolist():
      rows.append((history + [-1] * (8 - len(history)), [target], valid))
      history.append(target)
  return table_batch(*(np.array(column) for column in zip(*rows, strict=True)))


def test_all_steps_are_the_sum_of_one_example_per_step():
  together = table_loss(table_batch(), never=(BEG,))
  apart = table_loss(one_step_each(), never=(BEG,))
  np.testing.assert_allclose(together, apart, rtol=1e-5)


@pytest.mark.parametrize('kind', KINDS)
def test_all_steps_of_a_model_are_the_sum_of_its_steps(kind):
  model, params, batch = stepwise_case(kind)
  apart = jax.tree.map(lambda *rows: jnp.concatenate(rows), *one_step(batch))
  together, summed = quick_jit(
    lambda *batches: [stepwise_loss(model, params, b) for b in batches]
  )(batch, apart)
  assert together.weight == 5
  np.testing.assert_allclose(together, summed, rtol=1e-4)


def one_step(batch):
  """A batch for every step, the targets before it in the plan."""
  for step in range(3):
    before, empty = batch.targets[:, :step], batch.plan[:, step:]
    yield batch._replace(
      plan=jnp.concatenate([before, empty], axis=1),
      targets=batch.targets[:, step : step + 1],
    )


def stepwise_case(kind):
  records = [
    random_record(RNG, 4, max_tokens=3) | {'targets': [4, 2, EOT]},
    random_record(RNG, 2, max_tokens=3) | {'targets': [3, EOT]},
  ]
  batch = make_batch(records, length=19, units=8, steps=3, batch=3)
  model = CONFIGS[kind].build()
  return model, draw(model, batch)['params'], batch


def test_micro_batches_add_up():
  batch = table_batch()
  first, others = (
    jax.tree.map(operator.itemgetter(rows), batch)
    for rows in (slice(0, 1), slice(1, 3))
  )
  whole, *parts = map(table_loss, (batch, first, others))
  added = jax.tree.map(lambda a, b: a + b, *parts)
  np.testing.assert_allclose(whole, added, rtol=1e-6)
  assert isinstance(added, LossSums)


class Knows(nn.Module):
  """Chooses `unit` if `step` units have been chosen, otherwise BEG."""

  step: int
  unit: int

  def encode(self, batch, deterministic=True):
    return batch.valid

  def score(self, memory, plan, deterministic=True):
    right = (plan >= 0).sum(axis=1, keepdims=True) == self.step
    units = jnp.arange(memory.shape[1])[None]
    return (units == jnp.where(right, self.unit, BEG)).astype(jnp.float32)


@pytest.mark.parametrize('row', [0, 1])
def test_the_sampled_step_is_uniform_over_real_steps(row):
  count, start = 4000, (PLAN[row] >= 0).sum()
  rows = np.full(count, row)
  batch = table_batch(PLAN[rows], TARGETS[rows], VALID[rows])
  choices = TARGETS[row][TARGETS[row] >= 0].tolist()
  hits = []
  for step, unit in enumerate(choices):
    model = Knows(int(start) + step, unit)
    sums = table_loss(batch, KEYS[1], model=model, params={}, sample=True)
    assert sums.weight == count
    hits.append(int(sums.correct))
  assert sum(hits) == count
  share = 1 / len(choices)
  # Five standard deviations.
  tolerance = 5 * np.sqrt(share * (1 - share) / count)
  np.testing.assert_allclose(np.array(hits) / count, share, atol=tolerance)


def test_sampling_is_reproducible_and_varies():
  losses = [
    float(table_loss(table_batch(), KEYS[seed], sample=True).loss)
    for seed in (1, 1, 2)
  ]
  assert losses[0] == losses[1] != losses[2]


def test_a_document_without_targets_has_no_sampled_step():
  empty = np.full_like(TARGETS, -1)
  batch = table_batch(targets=empty)
  sums = table_loss(batch, KEYS[0], sample=True)
  assert list(sums) == [0, 0, 0]
  assert sums.mean == 0


def test_dropout_needs_an_rng():
  plain, again, dropped, other = (
    float(table_loss(table_batch(), rng).loss)
    for rng in (None, None, KEYS[0], KEYS[1])
  )
  assert plain == again
  assert len({plain, dropped, other}) == 3


@pytest.mark.parametrize('weight', [1.0, 3.5])
def test_extractive_loss_equals_numpy(weight):
  sums = table_loss(table_batch(), loss=extractive_loss, positive_weight=weight)
  loss = hits = 0
  for targets, valid in zip(TARGETS, VALID, strict=True):
    for unit in np.flatnonzero(valid):
      logit, label = TABLE[0, unit], unit in targets
      loss -= weight * log_expit(logit) if label else log_expit(-logit)
      hits += (logit > 0) == label
  np.testing.assert_allclose(sums, [loss, VALID.sum(), hits], rtol=1e-5)


@pytest.mark.parametrize(
  ('loss', 'terms'), [(stepwise_loss, 7), (extractive_loss, VALID.sum() - 1)]
)
def test_units_cut_away_do_not_count(loss, terms):
  """A target that the model never saw would cost infinitely much."""
  model, batch = Table(cut=6), table_batch()

  @quick_jit
  def run(params):
    sums = loss(model, params, batch)
    gradients = jax.grad(lambda p: loss(model, p, batch).loss)(params)
    return sums, gradients['table']

  sums, gradients = run(PARAMS)
  assert sums.weight == terms
  assert np.isfinite(sums.loss)
  assert np.isfinite(gradients).all()
  assert not gradients[0, 6]


def test_broken_weights_show_in_the_loss():
  broken = {'table': PARAMS['table'].at[0, 3].set(jnp.nan)}
  for loss in (stepwise_loss, extractive_loss):
    assert np.isnan(table_loss(table_batch(), loss=loss, params=broken).loss)


def test_a_document_without_candidates_does_not_count():
  logits = jnp.zeros((2, 1, 3))
  sums = cross_entropy(
    logits, jnp.array([[1], [2]]), jnp.array([[False] * 3, [True] * 3])
  )
  np.testing.assert_allclose(sums, [np.log(3), 1, 0], rtol=1e-6)


@pytest.mark.parametrize('kind', KINDS)
def test_gradients_are_finite(kind):
  """Padding rows, no targets, and documents that are cut short."""
  config = CONFIGS[kind]
  if kind == 'etcsum':
    config = dataclasses.replace(config, document_tokens=9)
  if kind == 'robertasum':
    encoder = dataclasses.replace(config.encoder, positions=21)
    config = dataclasses.replace(config, encoder=encoder)
  records = [
    random_record(RNG, 6, max_tokens=3) | {'targets': [2, 7, EOT]},
    random_record(RNG, 2, max_tokens=3),
  ]
  batch = make_batch(records, length=20, units=9, steps=3, batch=3)
  model = config.build()
  params = draw(model, batch)['params']
  gradients = quick_jit(
    jax.grad(lambda p, key: stepwise_loss(model, p, batch, key).loss)
  )(params, dropout_key(0))
  leaves = jax.tree.leaves(gradients)
  assert all(np.isfinite(leaf).all() for leaf in leaves)
  assert any(np.abs(leaf).max() > 0 for leaf in leaves)


@pytest.mark.parametrize(
  ('loss', 'missing', 'message'),
  [
    (stepwise_loss, {'plan': None}, 'without plan or targets'),
    (stepwise_loss, {'targets': None}, 'without plan or targets'),
    (extractive_loss, {'targets': None}, 'without targets'),
  ],
)
def test_a_batch_without_targets(loss, missing, message):
  with pytest.raises(InputError, match=message):
    loss(Table(), PARAMS, table_batch()._replace(**missing))


def test_sampling_without_an_rng():
  with pytest.raises(InputError, match='rng is missing'):
    stepwise_loss(Table(), PARAMS, table_batch(), sample=True)


def loop_gain_loss(logits, gains, plan, candidates, sharpness=20.0):
  """Loss of one step against the shares of its gains, in NumPy."""
  open_ = [u for u in candidates if u not in plan]
  span = max(np.ptp(gains[open_]), 1e-6)
  scaled = (gains[open_] - gains[open_].min()) / span
  wanted = np.exp(sharpness * scaled - logsumexp(sharpness * scaled))
  log_probs = logits - logsumexp(logits[candidates])
  return -(wanted * log_probs[open_]).sum()


def gain_batch(gains):
  return table_batch()._replace(gains=jnp.asarray(gains))


def test_gains_are_learnt_as_shares():
  gains = RNG.normal(size=(BATCH, STEPS, UNITS)).astype(np.float32)
  loss = functools.partial(stepwise_loss, Table(), never=(BEG,))
  sums = quick_jit(loss)(PARAMS, gain_batch(gains))
  np.testing.assert_allclose(
    sums.loss, sum(loop_gain_losses(gains).values()), rtol=1e-4
  )
  assert sums.weight == (TARGETS >= 0).sum()


def loop_gain_losses(gains):
  """The loss of every step of every row."""
  losses = {}
  for row in range(BATCH):
    plan = [u for u in PLAN[row] if u >= 0]
    candidates = [u for u in range(UNITS) if VALID[row, u] and u != BEG]
    for step, target in enumerate(TARGETS[row]):
      if target >= 0:
        losses[row, step] = loop_gain_loss(
          table_logits(TABLE, plan), gains[row, step], plan, candidates
        )
        plan = [*plan, target]
  return losses


def test_a_sampled_step_has_its_own_gains():
  gains = np.zeros((BATCH, STEPS, UNITS), np.float32)
  # A generator of its own: the draw must not depend on which tests ran before.
  wanted = np.random.default_rng(0).integers(UNITS, size=(BATCH, STEPS))
  np.put_along_axis(gains, wanted[..., None], 1, axis=2)
  batch, checked = gain_batch(gains), 0
  for row, step in zip(*np.nonzero(TARGETS >= 0), strict=True):
    plan = [*PLAN[row][PLAN[row] >= 0], *TARGETS[row, :step]]
    if wanted[row, step] in plan or not VALID[row, wanted[row, step]]:
      continue
    model = Knows(len(plan), int(wanted[row, step]))
    one = jax.tree.map(lambda array, row=row: array[row : row + 1], batch)
    right = [
      float(table_loss(one, key, model=model, params={}, sample=True).correct)
      for key in jax.random.split(KEYS[0], 20)
    ]
    count = (TARGETS[row] >= 0).sum()
    assert sum(right) > 0
    assert sum(right) < 20 or count == 1
    checked += 1
  assert checked > 2


def test_gains_of_a_unit_that_was_cut_away():
  batch = gain_batch(np.ones((BATCH, STEPS, UNITS), np.float32))

  def loss(params):
    return stepwise_loss(Table(cut=1), params, batch, never=(BEG,)).loss

  value, grads = jax.value_and_grad(loss)(PARAMS)
  assert jnp.isfinite(value)
  assert jnp.isfinite(grads['table']).all()
  assert not grads['table'][:, 1].any()


def test_equal_gains_are_equal_shares_and_finite():
  batch = gain_batch(np.zeros((BATCH, STEPS, UNITS), np.float32))
  grads = jax.grad(
    lambda params: stepwise_loss(Table(), params, batch, never=(BEG,)).loss
  )(PARAMS)
  assert jnp.isfinite(grads['table']).all()


def loop_rest_shares(targets, step, share, special):
  """What the units of one step deserve, in plain Python."""
  wanted = np.zeros(UNITS)
  rest = {unit for unit in targets[step:] if unit >= special}
  rest -= {*targets[:step]}
  wanted[targets[step]] += 1 - share if rest else 1
  for unit in rest:
    wanted[unit] += share / len(rest)
  return wanted


REST_TARGETS = np.array(
  [[3, 0, 5, 3, 1], [4, 6, 1, -1, -1], [0, 1, -1, -1, -1]]
)


@pytest.mark.parametrize('special', [0, 3])
def test_the_rest_shares_what_the_next_unit_leaves(special):
  step = np.tile(np.arange(STEPS), (BATCH, 1))
  found = rest_shares(
    jnp.asarray(REST_TARGETS), jnp.asarray(step), UNITS, 0.4, special
  )
  for row, target in zip(*np.nonzero(REST_TARGETS >= 0), strict=True):
    targets = REST_TARGETS[row][REST_TARGETS[row] >= 0]
    wanted = loop_rest_shares(targets, target, 0.4, special)
    np.testing.assert_allclose(found[row, target], wanted, atol=1e-6)


def test_the_rest_of_drawn_steps_is_that_of_the_whole_plan():
  step = jnp.array([[2], [1], [0]])
  whole = jnp.tile(jnp.arange(STEPS)[None], (BATCH, 1))
  every, drawn = (
    rest_shares(jnp.asarray(REST_TARGETS), s, UNITS, 0.7, 3)
    for s in (whole, step)
  )
  rows = np.arange(BATCH)
  np.testing.assert_array_equal(drawn[:, 0], every[rows, step[:, 0]])


def test_no_rest_share_is_the_cross_entropy_of_the_next_unit():
  batch = table_batch()
  plain = table_loss(batch, never=(BEG,))
  almost = table_loss(batch, never=(BEG,), rest_share=1e-7)
  np.testing.assert_allclose(plain.loss, almost.loss, rtol=1e-5)
  assert plain.weight == almost.weight


def test_all_steps_drawn_are_all_steps():
  batch = table_batch()
  drawn = table_loss(batch, KEYS[0], model=Certain(), params={}, sample=STEPS)
  every = table_loss(batch, model=Certain(), params={})
  np.testing.assert_allclose(drawn, every, rtol=1e-6)


def test_drawn_steps_differ_and_are_no_more_than_there_are():
  batch = table_batch()
  sums = table_loss(batch, KEYS[0], model=Certain(), params={}, sample=3)
  assert sums.weight == 3 + 2 + 1  # Steps of the rows: 5, 2 and 1.


@pytest.mark.parametrize('given', [0, 2])
def test_steps_drawn_in_stages_lose_nothing_of_their_plans(given):
  # As many parts as steps: every step is drawn, each in a stage of its own.
  plan = np.full((2, 3), -1)
  plan[:, :given] = 4
  targets = np.array([[3, 0, 5, 3, 1], [4, 6, 4, 0, 1]])
  batch = table_batch(plan, targets, np.ones((2, UNITS), bool))
  options = {'model': Certain(), 'params': {}}
  every = table_loss(batch, **options)
  drawn = table_loss(batch, KEYS[0], sample=STEPS, stages=STEPS, **options)
  np.testing.assert_allclose(drawn, every, rtol=1e-6)


def test_stages_draw_all_steps_equally_often():
  steps, draws = 11, 2000
  targets = np.zeros((draws, 13), int)
  targets[:, steps:] = -1
  found = _spread_steps(jax.random.key(0), jnp.asarray(targets), 6)
  assert found.shape == (draws, 6) and (np.diff(found) >= 0).all()
  counts = np.bincount(np.ravel(found), minlength=13)
  assert not counts[steps:].any()
  np.testing.assert_allclose(counts[:steps], draws * 6 / steps, rtol=0.1)


def test_a_late_stop_is_learnt_with_odds_of_its_own():
  # What minimises the loss has `odds` times the odds of the examples: here one
  # of three plans ends at once.
  odds, ends = 0.2, 1 / 3
  batch = table_batch(
    plan=np.full((3, 1), -1),
    targets=np.array([[EOT], [2], [2]]),
    valid=np.array([[True, False, True] + 4 * [False]] * 3),
  )

  def loss(table):
    params = {'table': table}
    return stepwise_loss(Table(), params, batch, stop=(EOT, odds)).mean

  table = jnp.zeros_like(PARAMS['table'])
  best = table.at[0, EOT].set(jnp.log(odds * ends / (1 - ends)))
  assert np.abs(jax.grad(loss)(table)).max() > 0.1
  np.testing.assert_allclose(jax.grad(loss)(best), 0, atol=1e-6)


def test_a_late_stop_raises_one_logit():
  logits = jnp.asarray(RNG.normal(size=(2, 3, 5)).astype(np.float32))
  raised = np.array(logits)
  raised[..., 1] += np.log(4)
  np.testing.assert_allclose(late_stop(logits, (1, 0.25)), raised, rtol=1e-6)
  assert late_stop(logits, None) is logits


def test_gains_and_a_rest_share_exclude_each_other():
  batch = gain_batch(np.zeros((BATCH, STEPS, UNITS), np.float32))
  with pytest.raises(InputError, match='learnt from them: no rest_share'):
    stepwise_loss(Table(), PARAMS, batch, rest_share=0.5)


class Certain(nn.Module):
  """Scores units by their number and by how many are chosen."""

  def encode(self, batch, deterministic=True):
    return batch.valid

  def score(self, memory, plan, deterministic=True):
    count = (plan >= 0).sum(axis=1, keepdims=True)
    return jnp.arange(memory.shape[1])[None] * 0.1 * (1 + count)
