"""A run from a file of records to a bundle, and on to ETCSum."""

import dataclasses
import json
from pathlib import Path

import jax
import numpy as np
import pytest
from flax import linen as nn
from typer.testing import CliRunner

from stepwise._errors import InputError
from stepwise.checkpoints import convert, load_bundle, start_from
from stepwise.cli.main import app
from stepwise.cli.train import _start
from stepwise.data import Masking
from stepwise.models import BareETCConfig, ETCSumConfig, find_config
from stepwise.pretraining import pretraining_task
from stepwise.training import (
  ModelSpec,
  PretrainingConfig,
  TrainConfig,
  load_gin,
  resolve_model,
)
from tests.checkpoints.foreign import flat
from tests.training.runs import BUCKETS, tiny_config, write_records

GIN = Path(__file__).parents[2] / 'gin' / 'pretraining'
FILES = ['TRAIN=train.jsonl', 'VALIDATION=valid.jsonl']


@pytest.fixture(scope='module')
def records(tmp_path_factory):
  return write_records(tmp_path_factory.mktemp('records'), count=9)


def config(records, **changes):
  fields = {
    'model': ModelSpec('etc_tiny'),
    'pretraining': PretrainingConfig(masking=Masking(min_units=3)),
  }
  return tiny_config(records, **fields | changes)


def batches(task, count, rows=4):
  opened = task.open_input(np.arange(rows))
  return [next(opened) for _ in range(count)]


def test_batches_follow_from_the_seed(records):
  first, again = (batches(pretraining_task(config(records)), 4) for _ in '12')
  for one, same in zip(first, again, strict=True):
    assert one.keys() == same.keys()
    for name, array in one.items():
      np.testing.assert_array_equal(array, same[name])
  other = batches(pretraining_task(config(records, seed=1)), 4)
  assert any(
    (a['tokens'] != b['tokens']).any()
    for a, b in zip(first, other, strict=True)
  )
  # A continued run goes on where the first one was.
  opened = pretraining_task(config(records)).open_input(np.arange(4))
  next(opened), next(opened)
  resumed = pretraining_task(config(records)).open_input(np.arange(4))
  resumed.set_state(opened.get_state())
  np.testing.assert_array_equal(next(resumed)['masked'], first[2]['masked'])


def test_an_epoch_has_every_document_masked_anew(records):
  per_epoch = 3
  found = batches(pretraining_task(config(records, steps=6)), 2 * per_epoch)
  epochs = [found[:per_epoch], found[per_epoch:]]
  texts, masks = [], []
  for epoch in epochs:
    restored = []
    for arrays in epoch:
      tokens = arrays['tokens'].copy()
      for row in range(len(tokens)):
        real = arrays['masked'][row] >= 0
        positions = arrays['masked'][row][real]
        tokens[row, positions] = arrays['labels'][row][real]
        hidden = np.isin(arrays['unit_ids'][row], arrays['hidden'][row])
        hidden &= arrays['unit_ids'][row] >= 0
        known = arrays['hidden_tokens'][row][arrays['hidden_slots'][row] >= 0]
        tokens[row, hidden] = known
        masks.append(tuple(positions))
      restored += [tuple(row[row > 0]) for row in tokens if row.any()]
    texts.append(sorted(restored))
  assert texts[0] == texts[1]
  assert len(texts[0]) == 9
  assert sorted(masks[: len(masks) // 2]) != sorted(masks[len(masks) // 2 :])


def test_a_dry_run_has_the_shapes_of_a_run(records):
  run = config(records)
  task = pretraining_task(run)
  [arrays] = batches(task, 1)
  empty = task.empty((BUCKETS.lengths[0], BUCKETS.units[0]), 4)
  for name in task.batch._fields:
    assert empty[name].shape == arrays[name].shape
    assert empty[name].dtype == arrays[name].dtype


@pytest.mark.parametrize(
  ('changes', 'message'),
  [
    ({'model': ModelSpec('etcsum_tiny')}, 'etcsum_tiny is no bare encoder'),
    (
      {'pretraining': PretrainingConfig(masking=Masking(min_units=6))},
      'has no record of 6 units, which Masking.min_units asks for',
    ),
    (
      {'model': ModelSpec('etc_tiny', sizes={'reader.document_tokens': 40})},
      'tokens, the model reads 40: build the records with --max-tokens',
    ),
    (
      {'model': ModelSpec('etc_tiny', sizes={'reader.encoder.vocab': 99})},
      "of 'wordpiece', the model has only 99 rows",
    ),
  ],
)
def test_what_cannot_be_pretrained(records, changes, message):
  with pytest.raises(InputError, match=message):
    batches(pretraining_task(config(records, **changes)), 1)


def test_weights_that_are_none():
  with pytest.raises(
    InputError, match=r'mlm_weight is 0\.0 and cpc_weight 0\.0'
  ):
    PretrainingConfig(0.0, 0.0)


def test_a_stepwise_model_cannot_be_a_reader():
  with pytest.raises(InputError, match=r'begin_unit is 1, must be None'):
    BareETCConfig(ETCSumConfig())


@pytest.mark.parametrize(
  'path', sorted(GIN.glob('*.gin')), ids=lambda p: p.stem
)
def test_gin_files_pretrain(path):
  run = load_gin(TrainConfig, [path], FILES)
  model = pretraining_task(run).model
  assert isinstance(model, BareETCConfig)
  assert model.reader.encoder.pattern.hard_g2l
  assert run.pretraining is not None
  assert (run.pretraining.mlm_weight, run.pretraining.cpc_weight) == (0.8, 0.2)
  if run.input.buckets:
    assert run.input.buckets.lengths[-1] <= model.limits.tokens
  if path.stem.startswith('etc_base'):
    assert run.model.scan_layers
    assert run.model.remat
    assert run.model.dtype == 'bfloat16'


@pytest.fixture(scope='module')
def pretrained(records, tmp_path_factory):
  """The folder of a run of the command line, of two steps."""
  out = tmp_path_factory.mktemp('run') / 'run'
  done = CliRunner().invoke(
    app,
    [
      *('train', str(records), '--validation', str(records)),
      *('--gin', str(GIN / 'etc_tiny.gin'), '--output', str(out)),
      *('--steps', '2', '--batch', '4'),
      *('--set', 'MeshConfig.data=1', '--set', 'TrainConfig.log_every=1'),
      *('--set', 'InputConfig.buckets=@Buckets()'),
      *('--set', f'Buckets.lengths={BUCKETS.lengths}'),
      *('--set', f'Buckets.units={BUCKETS.units}'),
      *('--size', 'reader.encoder.layers=1'),
      *('--size', 'reader.encoder.implementation=dense'),
    ],
    catch_exceptions=False,
  )
  assert done.exit_code == 0, done.output
  return out


@pytest.mark.slow
def test_a_run_writes_the_bundle_of_an_encoder(pretrained):
  lines = (pretrained / 'metrics.jsonl').read_text().splitlines()
  rows = [json.loads(line) for line in lines]
  names = {'loss', 'accuracy', 'mlm_loss', 'cpc_loss', 'mlm_accuracy'}
  for stage in ('train', 'validation'):
    [row] = [r for r in rows if f'{stage}/loss' in r and r['step'] == 2]
    assert {f'{stage}/{name}' for name in names} <= row.keys()
    both = 0.8 * row[f'{stage}/mlm_loss'] + 0.2 * row[f'{stage}/cpc_loss']
    if stage == 'train':
      assert row['train/loss'] == pytest.approx(both, rel=1e-4)
  bundle = load_bundle(pretrained / 'bundle')
  assert isinstance(bundle.config, BareETCConfig)
  assert bundle.decoding is None


@pytest.mark.slow
def test_encoders_go_to_etcsum_and_back(pretrained, tmp_path):
  bundle = load_bundle(pretrained / 'bundle')
  sizes = bundle.config.reader.encoder
  tiny = find_config('etcsum_tiny')
  etcsum = dataclasses.replace(tiny, encoder=sizes)
  params = start_from(bundle, etcsum, seed=3)
  source = flat(bundle.variables['params'])
  found = flat(params)
  shared = {name for name in found if name.startswith('encoder/')}
  assert {name.split('/')[0] for name in found.keys() - shared} == {'scorer'}
  for name in shared:
    np.testing.assert_array_equal(found[name], source[name])
  # And back: nothing is lost but the head.
  there = bundle._replace(config=etcsum, variables={'params': params})
  back = flat(start_from(there, bundle.config))
  assert back.keys() == source.keys()
  for name in shared:
    np.testing.assert_array_equal(back[name], source[name])
  with pytest.raises(InputError, match=r'weights do not fit: .* missing'):
    convert(pretrained / 'bundle', tmp_path / 'out', 'etcsum_tiny')
  with pytest.raises(InputError, match='is of another kind than the model'):
    convert(pretrained / 'bundle', tmp_path / 'out', 'bertsum_tiny')


@pytest.mark.slow
def test_etcsum_starts_from_an_encoder(pretrained, records):
  """By --init, as every other start, with the numerics of the encoder."""
  sizes = {'encoder.layers': 1, 'encoder.implementation': 'dense'}
  run = config(records, model=ModelSpec('etcsum_tiny', sizes=sizes))
  params, run = _start(pretrained / 'bundle', run)
  bundle = load_bundle(pretrained / 'bundle')
  etcsum = resolve_model(run.model.lasting)
  assert etcsum.encoder == bundle.config.reader.encoder
  needed = jax.eval_shape(
    etcsum.build().init, jax.random.key(0), *etcsum.smallest_inputs()
  )
  assert flat(params).keys() == flat(nn.unbox(needed)['params']).keys()
  source = flat(bundle.variables['params'])
  for name, array in flat(params).items():
    if name.startswith('encoder/'):
      np.testing.assert_array_equal(array, source[name])
