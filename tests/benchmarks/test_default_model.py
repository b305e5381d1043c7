"""The default model's pipeline: choices, card and recipe."""

import dataclasses
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from benchmarks import curve, default_card, default_model
from stepwise._errors import InputError
from stepwise.checkpoints import initial_params, load_bundle, save_bundle
from stepwise.data import Buckets
from stepwise.documents import read_documents
from stepwise.inference import (
  PredictConfig,
  Predictor,
  Reading,
  inference_buckets,
  read_document,
)
from stepwise.models import find_config
from stepwise.training import TrainConfig, load_gin
from tests.training.runs import write_articles

ROOT = Path(default_model.__file__).parents[1]


@pytest.fixture(scope='module')
def articles(tmp_path_factory):
  folder = tmp_path_factory.mktemp('articles')
  return write_articles(folder / 'articles.jsonl', 5)


@pytest.mark.parametrize('name', ['stepwise', 'stepwise_3_triblk', 'twin'])
def test_choices_are_those_of_the_predictor(articles, tmp_path, name):
  config = find_config('hibert_tiny')
  if name == 'twin':
    config = config.twin()
  save_bundle(tmp_path / 'bundle', config, initial_params(config))
  bundle = load_bundle(tmp_path / 'bundle')
  default_model.main(
    [str(tmp_path / 'bundle'), str(articles), str(tmp_path), name]
  )
  lines = (tmp_path / f'{name}.jsonl').read_text().splitlines()
  variants = default_model.STEPWISE | default_model.TWIN
  variant = variants[name]
  choose = PredictConfig(
    variant.decode or PredictConfig().decode,
    trigram_blocking=variant.trigram_blocking,
  )
  predictor = Predictor(
    config, bundle.variables['params'], choose, inference_buckets(config)
  )
  assert bundle.tokenizer is not None
  documents = list(read_documents(articles))
  expected = predictor(
    [Reading(d, read_document(d, bundle.tokenizer, config)) for d in documents]
  )
  assert [json.loads(line)['units'] for line in lines] == expected
  assert [json.loads(line)['summary'] for line in lines] == [
    [document.units[unit] for unit in units]
    for document, units in zip(documents, expected, strict=True)
  ]


def test_unknown_variants_are_named(articles, tmp_path):
  config = find_config('hibert_tiny')
  save_bundle(tmp_path / 'bundle', config, initial_params(config))
  with pytest.raises(InputError, match=r"\['twin'\] are not among"):
    default_model.main(
      [str(tmp_path / 'bundle'), str(articles), str(tmp_path), 'twin']
    )


def interval(mean):
  return {'mean': mean, 'low': mean - 1, 'high': mean + 1}


def test_the_card_has_every_system_and_the_differences():
  names = ['report/default.jsonl', 'lead:3']
  scores = {kind: {'f1': interval(40.0)} for kind in default_card._COLUMNS}
  pair = {kind: interval(1.25) for kind in default_card._COLUMNS}
  evaluation = {
    'documents': 5000,
    'metric': 'rouge-1.5.5',
    'command': 'stepwise evaluate a b',
    'device': 'x86_64, 2 cores',
    'date': '2026-01-01',
    'systems': [
      {'name': name, 'rouge': scores, 'lengths': {'mean': 61.3}}
      for name in names
    ],
    'comparisons': [
      {'first': names[0], 'second': names[1], 'difference': pair}
    ],
  }
  metrics = [
    {'step': 10, 'train/steps_per_second': 0.5},
    {'step': 10, 'validation/loss': 1.0},
    {'step': 40, 'train/steps_per_second': 0.25},
  ]
  later = [{'step': 60, 'train/steps_per_second': 1.0}]
  kind = {
    'documents': 7,
    'rouge1': {'lead': 30.0, 'auto': 31.5},
    'auto': {'default': 5, 'coverage': 2},
    'best': 'lead',
    'auto_minus_best': [1.5, -0.5, 3.5],
  }
  mixed = {'command': 'stepwise bench mixed', 'date': '', 'sets': {'law': kind}}
  card = default_card.render(evaluation, [metrics, later], 'A note.', mixed)
  assert 'rouge-1.5.5 F1 with 95 % bootstrap intervals' in card
  assert '| Lead-3 | 40.00 (39.00 to 41.00) |' in card
  assert '| Lead-3 | +1.25 (+0.25 to +2.25) |' in card
  # 10 steps at 0.5, 30 at 0.25 and 60 at 1 a second.
  assert '40, 60 updates in 2 parts, 3 minutes on CPU cores.' in card
  assert ' A note.\n' in card
  row = '| law | 7 | 5 | 31.50 | lead 30.00 | +1.50 (-0.50 to +3.50) |'
  assert row in card
  for section in ('Intended use', 'Limits', 'Training', 'Data and licences'):
    assert f'\n## {section}\n' in card


def dry_run(folder, *settings, recipe='train'):
  path = f'gin/default/{recipe}.mk'
  return subprocess.run(
    ['make', '-n', '-f', path, f'RUN={folder}', *settings],
    cwd=ROOT,
    capture_output=True,
    text=True,
    check=False,
  )


@pytest.mark.skipif(not shutil.which('make'), reason='needs make')
def test_the_recipe_goes_from_articles_to_the_package(tmp_path):
  for name in ('train.jsonl', 'valid.jsonl'):
    (tmp_path / name).touch()
  run = dry_run(tmp_path / 'run', f'NEWS={tmp_path}')
  assert run.returncode == 0, run.stderr
  steps = ['data sample', 'data build', 'convert', 'train', 'train-value']
  for step in (*steps, 'export', 'infer', 'evaluate'):
    assert f'stepwise {step} ' in run.stdout
  for model in ('stepwise', 'drawn', 'all', 'twin', 'etcsum', 'etcsum_twin'):
    assert f'--gin gin/default/{model}.gin' in run.stdout
  missing = dry_run(tmp_path / 'run')
  assert missing.returncode == 2
  assert 'set NEWS to a folder' in missing.stderr


@pytest.mark.skipif(not shutil.which('make'), reason='needs make')
def test_a_curve_measures_every_size_of_one_run(tmp_path):
  for name in ('train.jsonl', 'valid.jsonl'):
    (tmp_path / name).touch()
  settings = f'NEWS={tmp_path}', 'SIZES=3 7', 'HIBERT_SIZES=3 7 13'
  run = dry_run(tmp_path / 'run', *settings, recipe='curve')
  assert run.returncode == 0, run.stderr
  folder = f'{tmp_path}/run/curve'
  lines = {'hibert': (3, 7, 13), 'etcsum': (3, 7), 'etcsum-pretrained': (3, 7)}
  for line, sizes in lines.items():
    trainings = re.findall(
      rf'stepwise train .*--output {folder}/{line} .*--steps (\d+) ', run.stdout
    )
    assert trainings == [str(size) for size in sizes]
    for size in sizes:
      assert f'curve choose {folder}/{line}-{size} ' in run.stdout
  assert f'--init {folder}/etc/bundle ' in run.stdout
  assert f'--init {folder}/etcsum-7 ' in run.stdout
  evaluate = run.stdout[run.stdout.rindex('stepwise evaluate') :]
  # What is scored on, seven choices and one of the twin.
  assert evaluate.split('--save-json')[0].count('.jsonl') == 9
  assert (
    f' etcsum-pretrained={folder}/etcsum-pretrained,{folder}/etc' in evaluate
  )


def test_lines_of_the_curve_learn_the_same_documents_alike():
  hibert, etcsum = (
    load_gin(
      TrainConfig, [ROOT / f'gin/default/curve_{line}.gin'], ['TRAIN="-"']
    )
    for line in ('hibert', 'etcsum')
  )
  assert hibert.input.buckets == etcsum.input.buckets
  assert hibert.input.buckets == Buckets((curve.TOKENS,), (curve.UNITS,))
  assert hibert.input.batch_size == etcsum.input.batch_size == curve.BATCH
  assert hibert.checkpoints == etcsum.checkpoints
  frozen = hibert.optimizer.frozen, etcsum.optimizer.frozen
  assert len(frozen[0]) == len(frozen[1]) == 3
  assert dataclasses.replace(
    hibert.optimizer, frozen=()
  ) == dataclasses.replace(etcsum.optimizer, frozen=())
