"""Every gin file parses and builds its configuration; tiny ones train."""

import dataclasses
from pathlib import Path

import gin as gin_library
import pytest

from stepwise._errors import InputError
from stepwise.inference import PredictConfig
from stepwise.models import CONFIGS, SYSTEMS, count_params
from stepwise.realization.training import realizer_task
from stepwise.training import (
  CheckpointConfig,
  EvaluationConfig,
  InputConfig,
  MeshConfig,
  ModelSpec,
  OptimizerConfig,
  TrainConfig,
  absolute_folder,
  load_gin,
  resolve_model,
  train,
)
from tests.training.runs import write_records

GIN = Path(__file__).parents[1] / 'gin'
ROWS = sorted((GIN / 'cnn_dailymail').glob('*.gin'))
PLANNERS = sorted((GIN / 'rotowire').glob('stepwise_*.gin'))
SMALL_PLANNERS = sorted((GIN / 'rotowire' / 'small').glob('*.gin'))
REALIZERS = sorted((GIN / 'rotowire').glob('realizer*.gin'))
MODELS = sorted((GIN / 'models').glob('*.gin'))
TINY = sorted(GIN.glob('*.gin'))
FILES = ['TRAIN=train.jsonl', 'VALIDATION=valid.jsonl', 'DOCUMENTS=d.jsonl']


def name(path):
  return str(path.relative_to(GIN))


def test_no_package_shadows_the_library():
  assert not list(GIN.rglob('__init__.py'))
  assert hasattr(gin_library, 'configurable')


def test_every_trained_row_of_the_table_has_a_file():
  trained = {s.name for s in SYSTEMS.values() if s.config is not None}
  assert {path.stem for path in ROWS} == trained


@pytest.mark.parametrize('path', ROWS, ids=name)
def test_a_row_is_its_system(path):
  system = SYSTEMS[path.stem]
  config = load_gin(TrainConfig, [path], FILES)
  assert config.model.name == system.config
  assert resolve_model(config.model).stepwise == system.stepwise
  predict = config.evaluation.predict
  assert predict.trigram_blocking == system.trigram_blocking
  assert load_gin(PredictConfig, [path]) == predict
  published = ' / '.join(f'{score:.2f}' for score in system.published)
  assert published in path.read_text()


def hyper_parameters(folder, stem):
  config = load_gin(TrainConfig, [GIN / folder / f'{stem}.gin'], FILES)
  return (
    config.steps,
    config.input.batch_size,
    config.optimizer.learning_rate,
    config.optimizer.schedule,
    config.checkpoints.best_metric,
  )


def test_the_papers_hyper_parameters():
  hibert = (100_000, 32, 0.01, 'inverse_sqrt', 'validation/loss')
  etcsum = (5000, 512, 2.5e-5, 'constant', 'validation/rouge1')
  for prefix in ('', 'stepwise_'):
    assert hyper_parameters('cnn_dailymail', f'{prefix}hibert') == hibert
    assert hyper_parameters('cnn_dailymail', f'{prefix}etcsum') == etcsum
  planner = hyper_parameters('rotowire', 'stepwise_hibert')
  assert planner == (766_000, 128, 0.01, 'inverse_sqrt', 'validation/auc')
  planner = hyper_parameters('rotowire', 'stepwise_etcsum')
  assert planner == (5000, 512, 2.5e-5, 'constant', 'validation/auc')
  realizer = hyper_parameters('rotowire', 'realizer')
  assert realizer == (36_000, 512, 0.05, 'inverse_sqrt', 'validation/bleu')


@pytest.mark.parametrize('path', PLANNERS, ids=name)
def test_planners_read_tables(path):
  config = load_gin(TrainConfig, [path], FILES)
  begin = resolve_model(config.model).begin_unit
  assert config.evaluation.predict.decode.never == (begin,) == (2,)
  # The pointer planner learns all steps of a plan in one pass.
  steps = 'all' if path.stem == 'pointer' else 'steps'
  assert config.input.examples == steps


@pytest.mark.parametrize('path', SMALL_PLANNERS, ids=name)
def test_small_planners_learn_all_steps_of_a_plan_from_one_reading(path):
  config = load_gin(TrainConfig, [path], FILES)
  model = resolve_model(config.model)
  decode = config.evaluation.predict.decode
  assert decode.never == (model.begin_unit,) == (2,)
  assert decode.beam_size == 1 and decode.stop_unit == 1
  assert config.input.examples == 'all' and config.drawn_steps
  assert decode.max_units <= model.limits.plan
  text = ' '.join(path.read_text().split())
  assert f'{count_params(config.model.name):,} ' in text


def test_a_run_may_reach_further_than_its_positions():
  """Nothing is learnt anew: a reach has no weights."""
  path = GIN / 'default' / 'all.gin'
  reach = "ModelSpec.sizes = {'encoder.reach': 512}"
  far = resolve_model(load_gin(TrainConfig, [path], [*FILES, reach]).model)
  near = resolve_model(load_gin(TrainConfig, [path], FILES).model)
  assert far.encoder.document_positions == near.limits.units == 132
  assert far.limits.units == 512


def test_the_small_hibert_has_the_papers_layers_and_no_order_of_entries():
  sizes = CONFIGS['hibert_rotowire_small'].encoder
  paper = CONFIGS['hibert_rotowire'].encoder
  assert sizes.sentence.layers == paper.sentence.layers == 2
  assert sizes.document_layers == paper.document_layers == 4
  assert sizes.document_positions == paper.document_positions == 0


PAPER_SIZE = [
  path
  for path in ROWS + PLANNERS + REALIZERS
  if 'mini' not in path.stem and path.stem not in ('pointer', 'realizer_slots')
]


@pytest.mark.parametrize('path', PAPER_SIZE, ids=name)
def test_paper_sizes_have_what_a_slice_needs(path):
  config = load_gin(TrainConfig, [path], FILES)
  assert config.model.scan_layers
  assert config.model.dtype == 'bfloat16'
  if config.input.batch_size == 512:
    # At most 32 or 64 documents go through at once, on 4 or 8 chips.
    assert config.input.batch_size // config.accumulate in (32, 64)
    assert config.validation_batch == 512 // config.accumulate


@pytest.mark.parametrize('path', REALIZERS, ids=name)
def test_realizers_write(path):
  config = load_gin(TrainConfig, [path], FILES)
  model = realizer_task(config).model
  sizes = {'realizer_slots': 'realizer_small'}.get(path.stem, path.stem)
  assert config.model.name == sizes
  assert max(config.input.buckets.lengths) <= model.positions
  assert f'{count_params(sizes):,} ' in ' '.join(path.read_text().split())


@pytest.mark.parametrize('path', MODELS, ids=name)
def test_model_files_name_a_configuration(path):
  spec = load_gin(ModelSpec, [path])
  assert spec.name == path.stem
  assert spec.name in CONFIGS
  resolve_model(spec)


@pytest.mark.parametrize(
  'path', ROWS + PLANNERS + SMALL_PLANNERS + REALIZERS + TINY, ids=name
)
@pytest.mark.parametrize('missing', ['TRAIN', 'VALIDATION'])
def test_required_values_fail_loudly(path, missing):
  given = [file for file in FILES if not file.startswith(missing)]
  with pytest.raises(InputError, match=f'{missing} is not set: give --set'):
    load_gin(TrainConfig, [path], given)


@pytest.mark.slow
@pytest.mark.parametrize('path', TINY, ids=name)
def test_tiny_runs_train_a_step(path, tmp_path):
  records = write_records(tmp_path, count=3)
  config = load_gin(
    TrainConfig,
    [path],
    [
      f'TRAIN={records}',
      f'VALIDATION={records}',
      'TrainConfig.steps=1',
      'InputConfig.batch_size=2',
      'MeshConfig.data=1',
    ],
  )
  assert train(config, tmp_path / 'run').step == 1


def test_gin_builds_the_very_dataclasses():
  settings = [
    'ModelSpec.name=hibert_tiny',
    'OptimizerConfig.learning_rate=1e-3',
    'InputConfig.train=a path.jsonl',
    'InputConfig.batch_size=4',
    'TrainConfig.steps=3',
  ]
  assert load_gin(TrainConfig, [], settings) == TrainConfig(
    ModelSpec('hibert_tiny'),
    OptimizerConfig(1e-3),
    InputConfig('a path.jsonl', 4),
    3,
    EvaluationConfig(),
    CheckpointConfig(),
    MeshConfig(),
  )


def test_one_file_leaves_nothing_for_the_next():
  path = GIN / 'cnn_dailymail' / 'etcsum_triblk.gin'
  assert load_gin(PredictConfig, [path]).trigram_blocking
  assert load_gin(PredictConfig, []) == PredictConfig()


def test_sizes_inside_a_model_are_settings():
  settings = [
    'ModelSpec.name=etcsum_tiny',
    "ModelSpec.sizes={'pooling': 'mean', 'encoder.pattern.radius': 9}",
    'ModelSpec.scan_layers=True',
  ]
  model = resolve_model(load_gin(ModelSpec, [], settings))
  assert model.pooling == 'mean'
  assert model.encoder.pattern.radius == 9
  assert model.encoder.scan_layers
  assert resolve_model(load_gin(ModelSpec, [], settings[:2]).lasting) == (
    dataclasses.replace(
      model, encoder=dataclasses.replace(model.encoder, scan_layers=False)
    )
  )


@pytest.mark.parametrize(
  ('sizes', 'message'),
  [
    ({'heads': 4}, "ETCSumConfig has no size 'heads', it has encoder,"),
    ({'encoder.layers': '6'}, "size 'layers' is '6', must be of type int"),
    ({'pooling.kind': 1}, 'pooling of ETCSumConfig has no sizes inside'),
  ],
)
def test_sizes_that_are_none_are_refused(sizes, message):
  with pytest.raises(InputError, match=message):
    resolve_model(ModelSpec('etcsum_tiny', sizes=sizes))


@pytest.mark.parametrize(
  ('settings', 'message'),
  [
    (['ModelSpec.name'], "--set is 'ModelSpec.name', must be NAME=VALUE"),
    (['ModelSpec.nam=x'], "'nam'"),
    (['Modelspec.name=x'], "'Modelspec'"),
    ([], 'ModelSpec.name is not set'),
  ],
)
def test_mistakes_are_one_sentence(settings, message):
  with pytest.raises(InputError) as error:
    load_gin(ModelSpec, [], settings)
  assert message in str(error.value)
  assert '\n' not in str(error.value)


def test_folders_of_t5x_are_absolute(tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)
  assert absolute_folder('run') == str(tmp_path / 'run')
  assert absolute_folder('gs://bucket/run') == 'gs://bucket/run'


def test_a_missing_file_is_named(tmp_path):
  with pytest.raises(InputError, match=r'absent\.gin: no such file'):
    load_gin(ModelSpec, [tmp_path / 'absent.gin'])


def test_checks_of_dataclasses_reach_the_user():
  with pytest.raises(InputError, match='every is 0, must be at least 1') as e:
    load_gin(CheckpointConfig, [], ['CheckpointConfig.every=0'])
  assert '\n' not in str(e.value)
  assert dataclasses.is_dataclass(load_gin(CheckpointConfig, []))
