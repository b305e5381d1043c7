"""Planners: a tiny one learns four games, and mistakes are named."""

import dataclasses

import jax
import numpy as np
import optax
import pytest

import stepwise
from stepwise._errors import InputError
from stepwise.checkpoints import Bundle, save_bundle
from stepwise.data import pad_batch, stepwise_examples, wordpiece
from stepwise.extraction import oracle_plan
from stepwise.layers import TransformerConfig
from stepwise.models import (
  Batch,
  PointerConfig,
  find_config,
  prefix_loss,
)
from stepwise.planning import (
  OPTIONS_FILE,
  Planner,
  PlannerOptions,
  default_options,
  load_planner,
)
from stepwise.rotowire import (
  NAME_TYPES,
  PlanRecordOptions,
  plan_records,
  read_table,
)
from stepwise.tables import (
  FORM_FILE,
  TableForm,
  draft_templates,
  make_sheets,
  open_table,
  plan_from_units,
  plan_units,
)
from tests.layers.parameters import draw, quick_jit
from tests.rotowire.season import season_game

CONFIG = PointerConfig(
  TransformerConfig(
    vocab=30522, embed=32, heads=4, mlp=48, layers=1, positions=32
  ),
  plan_layers=1,
  plan_positions=64,
  max_unit_tokens=28,
)
OPTIONS = PlannerOptions(table='paper', max_units=160, max_steps=48)
GAMES = [season_game(seed) for seed in (0, 1, 2, 5)]


def planner(params, options=OPTIONS, config=CONFIG):
  bundle = Bundle(config, config.build(), {'params': params}, wordpiece())
  return Planner(bundle, options)


def training_batch():
  options = PlanRecordOptions('paper', 160, 27)
  plans = [oracle_plan(game) for game in GAMES]
  examples = [
    stepwise_examples(*labelled)[0]
    for labelled in plan_records(GAMES, plans, wordpiece(), options)
  ]
  sizes = {'length': 4096, 'units': 160, 'steps': 40, 'batch': 4}
  batch = Batch.of(pad_batch(examples, **sizes))
  return batch._replace(plan=batch.plan[:, :1])


@pytest.fixture(scope='module')
def learned():
  """Parameters of the tiny planner after it has seen four games."""
  batch, model, steps = training_batch(), CONFIG.build(), 220
  optimizer = optax.adam(optax.cosine_decay_schedule(1e-2, steps))

  @quick_jit
  def fit(params):
    def step(carry, _):
      params, state = carry
      gradients = jax.grad(
        lambda p: prefix_loss(model, p, batch, never=(2,)).mean
      )(params)
      updates, state = optimizer.update(gradients, state)
      return (optax.apply_updates(params, updates), state), None

    carry = params, optimizer.init(params)
    (params, _), _ = jax.lax.scan(step, carry, None, length=steps)
    return params

  return jax.device_get(fit(draw(model, batch)['params']))


def reachable(game):
  """The oracle plan, without what the small table has no room for."""
  table = read_table(game, OPTIONS.table, OPTIONS.max_units)
  return plan_from_units(plan_units(oracle_plan(game), table), table)


def test_a_tiny_planner_learns_four_games(learned):
  plans = planner(learned)(GAMES)
  assert plans == [reachable(game) for game in GAMES]
  assert len({*plans}) == len(GAMES)
  # Sentences, and entries that are said again.
  assert all(len(plan) > 2 for plan in plans)
  repeats = [[r for s in plan for r in s] for plan in plans]
  assert any(len({*entries}) < len(entries) for entries in repeats)


def test_batches_and_beams_do_not_change_a_sure_plan(learned):
  options = dataclasses.replace(OPTIONS, batch_size=1)
  assert planner(learned, options)(GAMES[:2]) == planner(learned)(GAMES[:2])
  beams = dataclasses.replace(OPTIONS, beam_size=2, batch_size=1)
  assert planner(learned, beams)(GAMES[:1]) == planner(learned)(GAMES[:1])


def test_samples_of_a_sure_plan_agree_with_it(learned):
  # Logits are products with keys: larger keys leave nothing to chance.
  sure = learned | {'key': jax.tree.map(lambda x: 20 * x, learned['key'])}
  options = dataclasses.replace(OPTIONS, samples=3, threshold=0.6)
  [revised] = planner(sure, options)(GAMES[:1])
  [plain] = planner(learned)(GAMES[:1])
  assert {r for s in revised for r in s} == {r for s in plain for r in s}
  assert planner(sure, options)(GAMES[:1]) == [revised]


def test_a_planner_of_the_short_table_says_names_by_a_rule():
  params = draw(CONFIG.build(), training_batch())['params']
  options = PlannerOptions(table='roles', max_steps=12)
  [plan] = planner(params, options)(GAMES[:1])
  for sentence in plan:
    for entity in {r.entity for r in sentence} - {'match'}:
      first = next(r for r in sentence if r.entity == entity)
      assert first.type in NAME_TYPES


def test_entries_are_not_repeated_but_names_of_teams_are():
  plan = planner(draw(CONFIG.build(), training_batch())['params'])
  [found] = plan(GAMES[:1])
  entries = [r for sentence in found for r in sentence]
  repeated = {r.type for r in entries if entries.count(r) > 1}
  assert repeated <= {'TEAM-NAME', 'TEAM-CITY'}
  assert len(entries) <= OPTIONS.max_steps


def test_mistakes_are_named(tmp_path):
  params = {}
  with pytest.raises(InputError, match='HiBERTConfig is of another kind'):
    planner(params, config=find_config('hibert_tiny'))
  with pytest.raises(InputError, match='the model has no tokeniser'):
    Planner(Bundle(CONFIG, CONFIG.build(), {}, None))
  with pytest.raises(InputError, match='max_steps is 99; the model reads'):
    planner(params, dataclasses.replace(OPTIONS, max_steps=99))(GAMES[:1])
  with pytest.raises(InputError, match="table is 'all'; known ones"):
    planner(params, dataclasses.replace(OPTIONS, table='all'))(GAMES[:1])
  with pytest.raises(InputError, match='no such folder'):
    load_planner(tmp_path / 'none')


def test_a_bundle_remembers_how_to_plan(tmp_path):
  """One that does not must be told: a table would be read silently."""
  params = draw(CONFIG.build(), training_batch())['params']
  options = default_options(CONFIG, 'paper', 48)
  assert (options.max_steps, options.samples) == (48, 16)
  files = {OPTIONS_FILE: options.to_json()}
  save_bundle(tmp_path / 'told', CONFIG, params, files=files)
  save_bundle(tmp_path / 'untold', CONFIG, params)
  assert load_planner(tmp_path / 'told').options == options
  assert load_planner(tmp_path / 'told', OPTIONS).options == OPTIONS
  changed = load_planner(tmp_path / 'told', samples=0).options
  assert changed == dataclasses.replace(options, samples=0)
  with pytest.raises(InputError, match='does not say which table'):
    load_planner(tmp_path / 'untold')
  assert load_planner(tmp_path / 'untold', table='roles').options.samples == 16
  (tmp_path / 'told' / OPTIONS_FILE).write_text('{"tables": 1}')
  with pytest.raises(InputError, match='does not say how to plan'):
    load_planner(tmp_path / 'told')


def test_models_that_read_whole_plans_draw_no_samples_by_default():
  model = find_config('hibert_rotowire_tiny')
  assert default_options(model, 'roles', 7) == PlannerOptions('roles', None, 7)


def test_no_games_have_no_plans():
  assert planner({})([]) == []


def test_shapes_of_a_batch_are_those_of_the_contract():
  batch = training_batch()
  assert np.asarray(batch.plan).max() == -1
  assert (np.asarray(batch.targets) == 0).sum() > len(GAMES)


SHOPS = [
  {'shop': shop, 'sales': sales, 'visits': visits}
  for shop, sales, visits in (('Quay', 4, 70), ('Mill', 9, 31), ('Pier', 2, 5))
]


@pytest.fixture
def shop_planner(learned):
  """The model of the games as if it had been trained on shops."""
  form = TableForm('shops', draft_templates(make_sheets(SHOPS)))
  options = PlannerOptions(table='shops', max_units=9, max_steps=4)
  bundle = Bundle(CONFIG, CONFIG.build(), {'params': learned}, wordpiece())
  return Planner(bundle, options, form.with_columns(open_table(SHOPS)))


def test_tables_are_planned_and_reported(shop_planner):
  plan = stepwise.plan(SHOPS, planner=shop_planner)
  assert plan.planner == shop_planner.name
  table = shop_planner.open(SHOPS)
  assert len(table.entries) == 9 - 3
  assert [*plan] == [*shop_planner.plan_tables([table])[0]]
  assert {r for sentence in plan for r in sentence} <= table.relations
  report = stepwise.report(SHOPS, planner=shop_planner)
  said = [r for sentence in report for r in sentence.entries]
  assert all(relation.value in report.text for relation in said)


def test_planners_refuse_what_they_did_not_learn(shop_planner, learned):
  with pytest.raises(
    InputError, match="schema 'shops'; it does not read games"
  ):
    shop_planner(GAMES[:1])
  with pytest.raises(InputError, match=r"trained on games .reading 'paper'"):
    stepwise.plan(SHOPS, planner=planner(learned))
  weather = [{'shop': 'Quay', 'rain': 3}, {'shop': 'Mill', 'rain': 4}]
  with pytest.raises(InputError, match="schema 'shops', which have"):
    stepwise.report(weather, planner=shop_planner)
  with pytest.raises(InputError, match='takes no entries, must_include or'):
    stepwise.plan(SHOPS, planner=shop_planner, entries=3)
  with pytest.raises(InputError, match='takes no words'):
    stepwise.report(SHOPS, planner=shop_planner, words=30)


def test_bundles_keep_the_schema_of_their_tables(shop_planner, tmp_path):
  form, options = shop_planner.form, shop_planner.options
  files = {OPTIONS_FILE: options.to_json(), FORM_FILE: form.to_json()}
  params = shop_planner.bundle.variables['params']
  save_bundle(tmp_path / 'b', CONFIG, params, files=files)
  loaded = load_planner(tmp_path / 'b')
  assert (loaded.form, loaded.options) == (form, options)
  with pytest.raises(InputError, match="'shops'; it has no reading 'roles'"):
    load_planner(tmp_path / 'b', table='roles')
