"""A model that the package does not know: one call registers it.

After it the model is trained, continued, sharded, searched, stored and used
like any other; nothing here touches a file of the package.
"""

import dataclasses
import json
import shutil

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen as nn

from stepwise._errors import InputError
from stepwise.checkpoints import (
  Bundle,
  initial_params,
  load_bundle,
  save_bundle,
)
from stepwise.data import wordpiece
from stepwise.decoding import DecodeConfig
from stepwise.documents import make_document
from stepwise.inference import (
  Budget,
  Demands,
  PredictConfig,
  Predictor,
  Reading,
  default_config,
  inference_buckets,
  read_document,
)
from stepwise.layers import Dense, Embedding, mean_by_unit
from stepwise.models import (
  Limits,
  ModelConfig,
  _config,
  find_config,
  register_model,
)
from stepwise.planning import Planner, PlannerOptions
from stepwise.summarization import SummaryOptions, load_summarizer
from stepwise.tables import Entity, Kind, Schema, make_table
from stepwise.training import (
  CheckpointConfig,
  MeshConfig,
  ModelSpec,
  OptimizerConfig,
  train,
)
from tests.training.runs import tiny_config, write_records

STEPS = 12


@dataclasses.dataclass(frozen=True)
class ToyConfig(ModelConfig):
  """A bag of words for every unit, and for what has been chosen."""

  vocab: int = 30522
  embed: int = 8
  begin_unit: int | None = 1

  @property
  def limits(self):
    return Limits(tokens=512, units=64, plan=24)

  def build(self):
    return Toy(self)

  def twin(self):
    return dataclasses.replace(self, begin_unit=None)


class Toy(nn.Module):
  config: ToyConfig

  def setup(self):
    self.words = Embedding(self.config.vocab, self.config.embed)
    self.seen = Dense((self.config.embed,), ('embed', 'mlp'))
    self.scorer = Dense((1,), ('embed', 'score'), stddev=1.0)

  def __call__(self, batch):
    plan = batch.plan if self.config.stepwise else None
    return self.score(self.encode(batch), plan)

  def encode(self, batch, deterministic=True):
    words = self.words(batch.tokens)
    return mean_by_unit(words, batch.unit_ids, batch.valid.shape[1])

  def score(self, memory, plan=None, deterministic=True):
    states = memory
    if plan is not None:
      units = jnp.arange(memory.shape[1])[None, None]
      chosen = (plan[..., None] == units).any(axis=1).astype(memory.dtype)
      before = jnp.einsum('bu,bue->be', chosen, memory)
      states += jnp.tanh(self.seen(before))[:, None] * memory
    return self.scorer(states)[..., 0]


@pytest.fixture(scope='module', autouse=True)
def registered():
  sizes = {'toy': ToyConfig(), 'toy_tables': ToyConfig(begin_unit=2)}
  register_model(ToyConfig, sizes)
  yield
  # Other tests count what there is.
  del _config._KINDS['ToyConfig']
  for name in sizes:
    del _config.CONFIGS[name]


@pytest.fixture(scope='module')
def config(tmp_path_factory):
  records = write_records(tmp_path_factory.mktemp('records'), 8)
  return tiny_config(
    records,
    model=ModelSpec('toy'),
    optimizer=OptimizerConfig(0.2, epsilon=1e-3),
    steps=STEPS,
    checkpoints=CheckpointConfig(every=STEPS // 2),
  )


@pytest.fixture(scope='module')
def trained(config, tmp_path_factory):
  output = tmp_path_factory.mktemp('toy') / 'run'
  return output, train(config, output)


def assert_close(left, right, atol=0.0):
  jax.tree.map(
    lambda a, b: np.testing.assert_allclose(a, b, rtol=0, atol=atol),
    left,
    right,
  )


def test_it_learns_and_a_continued_run_ends_with_the_same_bits(
  config, trained, tmp_path
):
  output, result = trained
  lines = (output / 'metrics.jsonl').read_text().splitlines()
  losses = [json.loads(line)['train/loss'] for line in lines]
  assert sum(losses[-2:]) < 0.8 * sum(losses[:2])
  again = shutil.copytree(output, tmp_path / 'run')
  shutil.rmtree(again / 'checkpoints' / str(STEPS))
  assert_close(train(config, again).params, result.params)


def test_it_is_sharded_over_eight_devices(config, trained, tmp_path):
  mesh = dataclasses.replace(config, mesh=MeshConfig(data=4, model=2))
  assert_close(train(mesh, tmp_path / 'run').params, trained[1].params, 1e-4)


TEXT = (
  'The harbour opens again on Monday. Nobody was hurt in the storm. The mayor '
  'has promised a new roof. Children painted the walls of the school. Old '
  'photographs of the market are on show. The station stays closed until May.'
)


def predictor(params, **changes):
  decode = dataclasses.replace(default_config(ToyConfig()).decode, **changes)
  model = ToyConfig()
  buckets = inference_buckets(model)
  return Predictor(model, params, PredictConfig(decode), buckets)


def reading(demands=Demands()):
  document = make_document({'article': TEXT})
  record = read_document(document, wordpiece(), ToyConfig())
  return Reading(document, record, demands)


def test_it_is_searched_with_beams_and_constraints(trained):
  search = predictor(trained[1].params, beam_size=3, max_units=4, min_units=4)
  [free] = search.predict([reading()])
  assert len(free.units) == 4
  np.testing.assert_allclose(
    np.exp(free.rankings).sum(axis=1) + np.exp(free.stops), 1, rtol=1e-5
  )
  first, *others = free.units
  last = next(unit for unit in range(6) if unit not in free.units)
  demands = [
    Demands(must_exclude=(first,), must_include=(last,)),
    Demands(candidates=[unit in others for unit in range(6)]),
    Demands(budget=Budget((3, 1, 4, 1, 5, 9), 8)),
    Demands(min_units=2, max_units=2),
  ]
  without, among, cheap, two = search.predict(list(map(reading, demands)))
  assert first not in without.units
  assert last in without.units
  assert set(among.units) == set(others)
  assert sum((3, 1, 4, 1, 5, 9)[unit] for unit in cheap.units) <= 8
  assert len(two.units) == 2


def test_plans_are_drawn_from_it(trained):
  search = predictor(trained[1].params, max_units=3, min_units=3)
  [found] = search.predict([reading()], draws=5, seed=2)
  assert [len(plan) for plan in found.drawn] == [3] * 5
  assert len(set(found.drawn)) > 1
  assert search.predict([reading()], draws=5, seed=2)[0].drawn == found.drawn


def test_its_bundle_summarises(trained, tmp_path):
  params = trained[1].params
  save_bundle(tmp_path / 'toy', ToyConfig(), params)
  bundle = load_bundle(tmp_path / 'toy')
  assert bundle.config == ToyConfig()
  assert_close(bundle.variables['params'], params)
  summary = load_summarizer(tmp_path / 'toy')(TEXT, SummaryOptions(sentences=2))
  demands = Demands(min_units=2, max_units=2)
  [[*units]] = predictor(params, beam_size=3)([reading(demands)])
  assert sorted(units) == [sentence.index for sentence in summary.sentences]


def test_it_plans_a_table():
  schema = Schema({'town': Kind({'people': '{entity} has {value} people'})})
  towns = [
    Entity(f'Town {i}', 'town', {'people': str(100 * i)}) for i in range(1, 8)
  ]
  table = make_table(towns, schema)
  model = find_config('toy_tables')
  bundle = Bundle(
    model, model.build(), {'params': initial_params(model)}, wordpiece()
  )
  planner = Planner(bundle, PlannerOptions(max_steps=6, samples=3))
  [plan] = planner.plan_tables([table])
  relations = [relation for sentence in plan for relation in sentence]
  assert len(set(relations)) == len(relations)
  assert set(relations) <= {entry.relation for entry in table.entries}
  trace = planner.trace_table(table)
  np.testing.assert_allclose(trace.probabilities.sum(axis=1), 1, rtol=1e-5)


def test_its_twin_takes_the_best_units(trained):
  twin = ToyConfig().twin()
  params = {k: v for k, v in trained[1].params.items() if k != 'seen'}
  document = make_document({'article': TEXT})
  record = read_document(document, wordpiece(), twin)
  search = Predictor(
    twin, params, PredictConfig(top_k=2), inference_buckets(twin)
  )
  [found] = search.predict([Reading(document, record)])
  best = np.argsort(-found.rankings[0], kind='stable')[:2]
  assert list(found.units) == best.tolist()


def test_names_are_taken_once():
  with pytest.raises(InputError, match='another model is registered as Toy'):
    register_model(ModelConfig, stored_as='ToyConfig')
  with pytest.raises(InputError, match='configurations are named toy already'):
    register_model(ToyConfig, {'toy': ToyConfig()})
  with pytest.raises(InputError, match='has no setting dropout'):
    ToyConfig().with_settings(dropout=0.1)
  with pytest.raises(InputError, match='ToyConfig has no pretrained source'):
    ToyConfig().pretrained_parts(layers=2)
  with pytest.raises(InputError, match='ModelConfig is not a model'):
    _config.stored_name(ModelConfig())


def test_searches_are_checked_against_it(trained):
  with pytest.raises(InputError, match='must have unit 1, the BEG'):
    Predictor(
      ToyConfig(),
      trained[1].params,
      PredictConfig(DecodeConfig(max_units=2)),
      inference_buckets(ToyConfig()),
    )
