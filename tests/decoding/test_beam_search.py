"""Beam search against exhaustive search, plain loops and known answers."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepwise._errors import InputError
from stepwise.decoding import (
  Constraints,
  DecodeConfig,
  _beam_search,
  beam_search,
  check_result,
)
from tests.decoding.plan_twin import beam, greedy
from tests.decoding.search_problems import (
  CONSTRAINTS,
  found,
  make_constraints,
  make_memory,
  make_valid,
  neutral,
  on_device,
  score,
  twin,
)

BATCH, UNITS, STEPS = 2, 7, 3
# Five units in three slots: 5 + 25 + 125 plans at most, so 157 beams hold all.
ALL = 157
NEWS = DecodeConfig(
  max_units=STEPS, beam_size=ALL, stop_unit=0, never=(1,), min_units=1
)
CONFIGS = {
  'news': NEWS,
  'long enough': DecodeConfig(
    max_units=STEPS, beam_size=ALL, stop_unit=1, never=(0,), min_units=2
  ),
  'may be empty': DecodeConfig(
    max_units=STEPS, beam_size=ALL, stop_unit=0, never=(1,), min_units=0
  ),
  'normalised': DecodeConfig(
    max_units=STEPS, beam_size=ALL, stop_unit=0, never=(1,), length_alpha=0.7
  ),
  'no stop': DecodeConfig(max_units=STEPS, beam_size=ALL, never=(0, 1)),
}
seeds = st.integers(0, 2**32 - 1)


@functools.cache
def search(config):
  """A jitted search over the random problems' `score`."""

  def run(memory, valid, plan, constraints):
    return beam_search(
      score, memory, valid, config, plan=plan, constraints=constraints
    )

  return jax.jit(run)


def draw(seed, config, active=(), batch=BATCH):
  rng = np.random.default_rng(seed)
  memory = make_memory(rng, batch, UNITS, config.max_units)
  valid = make_valid(rng, batch, UNITS, config)
  constraints = make_constraints(rng, valid, config, active)
  return memory, valid, constraints


def solve(config, memory, valid, constraints, plan=None):
  if plan is None:
    plan = np.full((len(valid), config.max_units), -1, np.int32)
  return search(config)(*on_device((memory, valid, plan, constraints)))


def assert_finds_all(config, memory, valid, constraints, starts=None):
  starts = starts or [()] * len(valid)
  plan = np.full((len(valid), config.max_units), -1, np.int32)
  for row, start in enumerate(starts):
    plan[row, : len(start)] = start
  result = solve(config, memory, valid, constraints, plan)
  for row, start in enumerate(starts):
    expected = twin(
      memory, valid, config, constraints, row, start
    ).all_results()
    actual = found(result, row)
    assert actual.keys() == expected.keys()
    for key, value in expected.items():
      np.testing.assert_allclose(actual[key], value, atol=2e-5)
    scores = list(actual.values())
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize('name', CONSTRAINTS)
@settings(deadline=None, max_examples=15)
@given(seed=seeds)
def test_each_constraint_equals_exhaustive_search(name, seed):
  assert_finds_all(NEWS, *draw(seed, NEWS, [name]))


@pytest.mark.parametrize('config', CONFIGS.values(), ids=CONFIGS)
@settings(deadline=None, max_examples=20)
@given(seed=seeds, active=st.sets(st.sampled_from(CONSTRAINTS)))
def test_combined_constraints_equal_exhaustive_search(config, seed, active):
  assert_finds_all(config, *draw(seed, config, active))


@settings(deadline=None, max_examples=20)
@given(seed=seeds, active=st.sets(st.sampled_from(CONSTRAINTS)))
def test_initial_plan_counts_as_chosen_and_is_not_scored(seed, active):
  # A start may not fit together with these.
  active -= {'must_include', 'max_units'}
  memory, valid, constraints = draw(seed, NEWS, active)
  # The second start is as long as a plan may be; both have an unscored BEG.
  assert_finds_all(NEWS, memory, valid, constraints, starts=[(1, 3), (1, 2, 2)])


def test_initial_plan_may_hold_a_required_unit():
  config = NEWS
  memory, valid, _ = draw(5, config)
  constraints = neutral(BATCH, UNITS, config)
  required = np.isin(np.arange(UNITS), [2, 3])[None].repeat(BATCH, axis=0)
  constraints = constraints._replace(must_include=required)
  assert_finds_all(config, memory, valid, constraints, starts=[(3,), (3, 3)])


@functools.cache
def staged_search(config):
  """From empty plans; the slots that `score` was given, when traced."""
  slots = []

  def score_slots(memory, plan):
    slots.append(plan.shape[1])
    return score(memory, plan)

  def run(memory, valid, constraints):
    return beam_search(
      score_slots, memory, valid, config, constraints=constraints
    )

  return jax.jit(run), slots


@pytest.mark.parametrize(
  ('stages', 'expected'),
  [(1, {5}), (2, {0, 2, 4}), (3, {0, 1, 2, 4}), (4, {0, 1, 2, 3, 4})],
)
def test_stages_read_fewer_slots_and_find_the_same(stages, expected):
  config = DecodeConfig(
    max_units=5, beam_size=3, stop_unit=0, never=(1,), stages=stages
  )
  run, slots = staged_search(config)
  plain = DecodeConfig(max_units=5, beam_size=3, stop_unit=0, never=(1,))
  for seed in range(4):
    memory, valid, constraints = draw(seed, config, ['repeatable', 'overlap'])
    result = run(*on_device((memory, valid, constraints)))
    assert_same(result, solve(plain, memory, valid, constraints))
  assert set(slots) == expected


def test_stages_read_all_slots_of_a_given_plan():
  config = DecodeConfig(max_units=3, beam_size=2, stages=2)
  slots = []

  def score_slots(memory, plan):
    slots.append(plan.shape[1])
    return score(memory, plan)

  memory, valid, _ = draw(0, config)
  plan = np.array([[2, -1, -1], [-1, -1, -1]], np.int32)
  arguments = on_device((memory, valid, plan))
  jax.eval_shape(
    lambda memory, valid, plan: beam_search(
      score_slots, memory, valid, config, plan=plan
    ),
    *arguments,
  )
  assert set(slots) == {3}


@pytest.mark.parametrize('name', CONSTRAINTS)
def test_a_permissive_constraint_equals_none(name):
  config = DecodeConfig(max_units=3, beam_size=5, stop_unit=0, never=(1,))
  memory, valid, constraints = draw(11, config)
  given = Constraints(**{name: getattr(constraints, name)})
  expected = solve(config, memory, valid, Constraints())
  assert_same(solve(config, memory, valid, given), expected)


@pytest.mark.parametrize('alpha', [0.0, 1.0])
@settings(deadline=None, max_examples=20)
@given(seed=seeds, active=st.sets(st.sampled_from(CONSTRAINTS)))
def test_one_beam_is_a_greedy_loop(alpha, seed, active):
  config = DecodeConfig(
    max_units=5, stop_unit=0, never=(1,), length_alpha=alpha
  )
  memory, valid, constraints = draw(seed, config, active)
  result = solve(config, memory, valid, constraints)
  for row in range(BATCH):
    problem = twin(memory, valid, config, constraints, row)
    assert list(found(result, row)) == [greedy(problem)]


@pytest.mark.parametrize('alpha', [0.0, 0.7])
@settings(deadline=None, max_examples=20)
@given(seed=seeds, active=st.sets(st.sampled_from(CONSTRAINTS)))
def test_three_beams_equal_a_list_of_three(alpha, seed, active):
  config = DecodeConfig(
    max_units=4, beam_size=3, stop_unit=0, never=(1,), length_alpha=alpha
  )
  memory, valid, constraints = draw(seed, config, active)
  result = solve(config, memory, valid, constraints)
  for row in range(BATCH):
    problem = twin(memory, valid, config, constraints, row)
    assert list(found(result, row)) == beam(problem, size=3)


def paper_case(seed=3, batch=5):
  config = DecodeConfig(max_units=4, beam_size=3, stop_unit=0, never=(1,))
  active = ['repeatable', 'overlap', 'budget']
  return config, *draw(seed, config, active, batch)


def assert_same(actual, expected):
  """Equal choices; values within rounding of a differently compiled program."""
  for name, value in expected._asdict().items():
    other = getattr(actual, name)
    if value.dtype == jnp.float32:
      np.testing.assert_allclose(other, value, atol=1e-5, err_msg=name)
    else:
      np.testing.assert_array_equal(other, value, err_msg=name)


def test_a_batch_equals_its_documents_one_by_one():
  config, *problem = paper_case()
  together = solve(config, *problem)
  for row in range(5):
    alone = jax.tree.map(lambda x, row=row: x[row : row + 1], problem)
    expected = jax.tree.map(lambda x, row=row: x[row : row + 1], together)
    assert_same(solve(config, *alone), expected)


def test_a_batch_spread_over_devices_equals_one_on_a_single_device():
  devices = len(jax.devices())
  config, *problem = paper_case(batch=2 * devices)
  mesh = jax.make_mesh(
    (devices,), ('data',), axis_types=(jax.sharding.AxisType.Auto,)
  )
  rows = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec('data'))
  plan = np.full((2 * devices, config.max_units), -1, np.int32)
  memory, valid, constraints = problem
  spread = jax.device_put((memory, valid, plan, constraints), rows)
  assert_same(search(config)(*spread), solve(config, *problem))


def pad(tree, sizes):
  """Pads every axis of one of `sizes`' keys to its value, with garbage."""

  def grow(x):
    widths = [(0, sizes.get(size, size) - size) for size in x.shape]
    return np.pad(x, widths, constant_values=x.dtype.type(1))

  return jax.tree.map(grow, tree)


def test_padding_units_and_documents_changes_nothing():
  config, memory, valid, constraints = paper_case()
  expected = solve(config, memory, valid, constraints)
  memory, constraints = pad((memory, constraints), {5: 8, UNITS: 11})
  valid = np.pad(valid, [(0, 3), (0, 4)])
  actual = solve(config, memory, valid, constraints)
  assert np.all(np.isneginf(actual.ranking[..., UNITS:]))
  assert np.all(actual.lengths[5:] == 0)
  assert np.all(actual.scores[5:, 0] == 0)
  kept = jax.tree.map(lambda x: x[:5], actual)
  assert_same(kept._replace(ranking=kept.ranking[..., :UNITS]), expected)


def test_spare_slots_of_the_plan_change_nothing():
  config, memory, valid, constraints = paper_case()
  expected = solve(config, memory, valid, constraints)
  unused = np.full((5, 9, UNITS, UNITS), np.nan, np.float32)
  pairs = np.concatenate([memory['pairs'], unused], axis=1)
  memory = memory | {'pairs': pairs}
  plan = np.full((5, 13), -1, np.int32)
  actual = solve(config, memory, valid, constraints, plan)
  assert np.all(actual.plans[..., 4:] == -1)
  short = {
    name: getattr(actual, name)[:, :, :4]
    for name in ['plans', 'log_probs', 'ranking']
  }
  assert_same(actual._replace(**short), expected)


@pytest.mark.slow  # every operation is compiled by itself
def test_jit_equals_no_jit():
  config = DecodeConfig(max_units=3, beam_size=3, stop_unit=0, never=(1,))
  memory, valid, _ = on_device(draw(3, config))
  plain = beam_search(score, memory, valid, config)
  assert_same(solve(config, memory, valid, Constraints()), plain)


def search_with(score, valid, config):
  """A jitted search with a score that has no memory."""

  def run(valid):
    return beam_search(lambda _, plan: score(plan), None, valid, config)

  return jax.jit(run)(jnp.asarray(valid))


def markov_score(plan):
  """Logits are the log transition probabilities from the last unit."""
  table = jnp.log(
    jnp.array(
      [  # stop, then a, b, c; the first row is the beginning
        [1e-9, 0.6, 0.4, 1e-9],
        [0.10, 0.1, 0.4, 0.4],
        [0.90, 1e-9, 0.05, 0.05],
        [0.40, 0.2, 0.2, 0.2],
      ]
    )
  )
  length = jnp.sum(plan >= 0, axis=1)
  last = plan[jnp.arange(len(plan)), length - 1]
  return table[jnp.where(length > 0, last, 0)]


@pytest.mark.parametrize(
  ('beams', 'plan', 'probability'),
  [(1, [1, 2], 0.6 * 0.4 * 0.9), (2, [2], 0.4 * 0.9)],
)
def test_markov_chain_has_its_known_best_path(beams, plan, probability):
  # Greedy begins with a (0.6); the best path is b, stop.
  config = DecodeConfig(max_units=5, beam_size=beams, stop_unit=0)
  result = search_with(markov_score, np.ones((1, 4), bool), config)
  assert result.plans[0, 0].tolist() == plan + [-1] * (5 - len(plan))
  np.testing.assert_allclose(jnp.exp(result.scores[0, 0]), probability, 1e-5)
  assert result.stopped[0, 0]


def test_log_probs_and_ranking_explain_the_score():
  config, memory, valid, constraints = paper_case()
  result = jax.device_get(solve(config, memory, valid, constraints))
  for row, k in np.argwhere(np.isfinite(result.scores)):
    total = result.log_probs[row, k].sum()
    np.testing.assert_allclose(total, result.scores[row, k], 1e-5)
    length, stopped = result.lengths[row, k], result.stopped[row, k]
    choices = [*result.plans[row, k, :length], *([0] if stopped else [])]
    problem = twin(memory, valid, config, constraints, row)
    for slot, unit in enumerate(choices):
      ranking = result.ranking[row, k, slot]
      assert ranking[unit] == result.log_probs[row, k, slot]
      beliefs = problem.log_probs(tuple(choices[:slot]))
      expected = [beliefs.get(u, -np.inf) for u in range(UNITS)]
      np.testing.assert_allclose(ranking, expected, atol=1e-5)
    assert np.all(np.isneginf(result.ranking[row, k, len(choices) :]))
    assert np.all(result.plans[row, k, length:] == -1)


def test_ranking_of_a_started_plan_begins_at_its_first_decision():
  config = DecodeConfig(max_units=4, beam_size=3)
  memory, valid, constraints = draw(7, config)
  plan = np.array([[2, 3, -1, -1], [2, -1, -1, -1]], np.int32)
  result = solve(config, memory, valid, constraints, plan)
  decided = np.isfinite(result.ranking).any(axis=-1)
  np.testing.assert_array_equal(decided[0], [[False, False, True, True]] * 3)
  np.testing.assert_array_equal(decided[1], [[False, True, True, True]] * 3)


def recorded(calls, x):
  """Zeros of x's first axis; appends the shape of x when it is computed."""

  def record(x):
    calls.append(x.shape)
    return np.zeros(x.shape[:-1], np.float32)

  zeros = jax.ShapeDtypeStruct(x.shape[:1], jnp.float32)
  return jax.pure_callback(record, zeros, x, vmap_method='expand_dims')


def recorded_search(logits, config):
  """Shapes of plan and memory at every call of a score with fixed logits."""
  plans, memories = [], []

  def score(memory, plan):
    zeros = recorded(plans, plan) + recorded(memories, memory)
    return jnp.asarray(logits) + zeros[:, None]

  valid = jnp.ones(np.shape(logits), bool)
  memory = jnp.ones((len(logits), 2))
  run = jax.jit(lambda memory: beam_search(score, memory, valid, config))
  jax.block_until_ready(run(memory))
  return plans, memories


def test_first_step_runs_once_per_document_and_memory_is_never_copied():
  config = DecodeConfig(max_units=5, beam_size=3)
  plans, memories = recorded_search(np.zeros((2, 7)), config)
  assert plans == [(2, 5)] + 4 * [(3, 2, 5)]
  assert set(memories) == {(2, 2)}


def test_the_search_ends_soon_after_all_hypotheses_have():
  config = DecodeConfig(max_units=30, beam_size=1, stop_unit=0)
  # One unit, then the stop: two decisions, though 30 would be possible. The
  # first is by itself, the others come in strides of eight.
  plans, _ = recorded_search(np.array([[9.0, 8.0, -9.0]]), config)
  assert len(plans) == 1 + 8


def test_strides_change_nothing(monkeypatch):
  rng = np.random.default_rng(0)
  table = jnp.asarray(rng.normal(size=(20, 2, 20)), jnp.float32)
  valid = np.ones((2, 20), bool)
  config = DecodeConfig(max_units=14, beam_size=3, stop_unit=0, never=(1,))

  def score(plan):
    return table[(plan >= 0).sum(axis=-1), jnp.arange(2)]

  strides = search_with(score, valid, config)
  monkeypatch.setattr(_beam_search, '_STRIDE', 100)
  whole = search_with(score, valid, config)
  assert strides.lengths.min() > 1
  jax.tree.map(np.testing.assert_array_equal, strides, whole)


def test_a_document_with_only_the_stop_has_an_empty_plan_of_score_zero():
  config = DecodeConfig(max_units=3, beam_size=2, stop_unit=0, never=(1,))
  valid = np.array([[True, True, False], [False, False, False]])
  result = search_with(lambda plan: jnp.zeros((2, 3)), valid, config)
  assert result.lengths.tolist() == [[0, 0]] * 2
  assert result.scores.tolist() == [[0.0, -np.inf]] * 2
  assert not result.stopped.any()
  assert np.all(result.plans == -1)


def test_more_beams_than_plans_leaves_empty_beams():
  config = DecodeConfig(max_units=2, beam_size=7)
  logits = jnp.array([[0.0, 1.0]])
  result = search_with(lambda plan: logits, jnp.ones((1, 2), bool), config)
  plans = [[1, 1], [0, 1], [1, 0], [0, 0]]
  assert sorted(result.plans[0, :4].tolist()) == sorted(plans)
  assert np.isfinite(result.scores[0, :4]).all()
  assert np.isneginf(result.scores[0, 4:]).all()
  assert np.all(result.plans[0, 4:] == -1)
  assert np.all(result.lengths[0, 4:] == 0)
  assert np.all(result.log_probs[0, 4:] == 0)
  assert np.isneginf(result.ranking[0, 4:]).all()


def test_equal_scores_go_to_the_first_unit():
  config = DecodeConfig(max_units=1, beam_size=3)
  result = search_with(
    lambda plan: jnp.zeros((1, 5)), jnp.ones((1, 5), bool), config
  )
  assert result.plans[0, :, 0].tolist() == [0, 1, 2]


def test_bfloat16_logits_are_summed_in_float32():
  config = DecodeConfig(max_units=2)
  logits = jnp.array([[0.0, 1.0, 3.0]], jnp.bfloat16)
  result = search_with(lambda plan: logits, jnp.ones((1, 3), bool), config)
  expected = 2 * jax.nn.log_softmax(logits.astype(jnp.float32))[0, 2]
  np.testing.assert_allclose(result.scores[0, 0], expected, 1e-6)


@pytest.mark.parametrize('bad', [np.nan, np.inf])
def test_bad_logits_are_flagged_and_never_chosen(bad):
  config = DecodeConfig(max_units=2, beam_size=3)
  logits = jnp.array([[0.0, 1.0, 2.0], [0.0, bad, 2.0], [-jnp.inf, 1.0, 2.0]])
  result = search_with(lambda plan: logits, jnp.ones((3, 3), bool), config)
  assert result.broken.tolist() == [False, True, False]
  assert not np.any(result.plans[1] == 1)
  assert np.isfinite(result.scores).all()
  with pytest.raises(InputError, match='document 1 of the batch are not fini'):
    check_result(result)
  fine = jax.tree.map(lambda x: x[:1], result)
  assert check_result(fine) is fine


def test_bad_logits_outside_the_softmax_do_not_matter():
  config = DecodeConfig(max_units=2, beam_size=2, never=(0,))
  logits = jnp.array([[jnp.nan, 1.0, 2.0, jnp.nan]])
  valid = jnp.array([[True, True, True, False]])
  result = search_with(lambda plan: logits, valid, config)
  assert not result.broken.any()


def test_bad_logits_after_the_end_do_not_matter():
  config = DecodeConfig(max_units=2, beam_size=2)

  @jax.jit
  def run(plan):
    nan = jnp.full((1, 3), jnp.nan)
    valid = jnp.ones((1, 3), bool)
    return beam_search(lambda *_: nan, None, valid, config, plan=plan)

  result = run(jnp.array([[2, 1]]))
  assert not result.broken.any()
  assert result.plans[0, 0].tolist() == [2, 1]


def test_bad_logits_of_a_later_step_are_flagged():
  config = DecodeConfig(max_units=3)

  def later(plan):
    return jnp.where(plan[:, 1:2] >= 0, jnp.nan, jnp.zeros((1, 3)))

  result = search_with(later, np.ones((1, 3), bool), config)
  assert result.broken.tolist() == [True]
  assert result.lengths.tolist() == [[2]]


def test_score_of_the_wrong_shape_is_named():
  with pytest.raises(InputError, match=r'score returned \(1, 4\) but valid ha'):
    beam_search(
      lambda memory, plan: jnp.zeros((1, 4)),
      None,
      jnp.ones((1, 3), bool),
      DecodeConfig(max_units=2),
    )


def test_values_are_checked_unless_traced():
  config = DecodeConfig(max_units=2)
  valid, plan = jnp.ones((1, 3), bool), jnp.array([[7, -1]])
  run = functools.partial(
    beam_search, lambda memory, plan: jnp.zeros((1, 3)), None
  )
  with pytest.raises(InputError, match='plan has unit 7'):
    run(valid, config, plan=plan)
  jax.jit(lambda valid, plan: run(valid, config, plan=plan))(valid, plan)
