"""`stepwise train`: flags, gin files, kill -9, two processes, the bundle."""

import json
import socket

import jax
import numpy as np
import pytest
from flax import linen as nn
from typer.testing import CliRunner

from stepwise._errors import InputError
from stepwise.checkpoints import load_bundle, save_bundle
from stepwise.cli.main import app
from stepwise.inference import PredictConfig
from stepwise.models import find_config
from tests.training.processes import PATIENCE, kill_when, run, start
from tests.training.runs import write_articles, write_records

ONE_DEVICE = ('--set', 'MeshConfig.data=1')


def flags(records, output, steps, *more):
  return [
    *('train', records, '--config', 'hibert_tiny', '--steps', steps),
    *('--batch', 4, '--output', output, *ONE_DEVICE, *more),
  ]


def invoke(*arguments):
  return CliRunner().invoke(app, [str(argument) for argument in arguments])


def losses(output):
  lines = (output / 'metrics.jsonl').read_text().splitlines()
  rows = [json.loads(line) for line in lines]
  return {r['step']: r['train/loss'] for r in rows if 'train/loss' in r}


def weights(output):
  return (output / 'bundle' / 'model.safetensors').read_bytes()


def test_articles_to_summaries(tmp_path):
  """data build, train, infer: the whole way, at toy size."""
  articles = write_articles(tmp_path / 'articles.jsonl', 6)
  records, out = tmp_path / 'records.jsonl', tmp_path / 'out.jsonl'
  built = invoke('data', 'build', articles, records, '--processes', 1)
  assert built.exit_code == 0, built.output
  output = tmp_path / 'run'
  blocking = ('--set', 'PredictConfig.trigram_blocking=True')
  options = ('--validation', records, *blocking)
  trained = invoke(*flags(records, output, 2, *options))
  assert trained.exit_code == 0, trained.output
  assert trained.stdout == f'{output}/bundle: step 2\n'
  assert trained.stderr == ''
  bundle = load_bundle(output / 'bundle')
  assert bundle.config.stepwise
  assert bundle.decoding == PredictConfig(trigram_blocking=True)
  inferred = invoke('infer', output / 'bundle', articles, out)
  assert inferred.exit_code == 0, inferred.output
  rows = [json.loads(line) for line in out.read_text().splitlines()]
  assert [row['id'] for row in rows] == [f'article-{i}' for i in range(6)]
  for row, line in zip(rows, articles.read_text().splitlines(), strict=True):
    assert 1 <= len(row['summary']) <= 4
    assert all(s in json.loads(line)['article'] for s in row['summary'])
  before = weights(output)
  (output / 'bundle' / 'model.safetensors').unlink()
  exported = invoke(*flags(records, output, 2, *options, '--export'))
  assert exported.exit_code == 0, exported.output
  assert weights(output) == before


@pytest.mark.parametrize(
  ('arguments', 'message'),
  [
    (['--config', 'absent', '--steps', 1, '--batch', 1], "named 'absent'"),
    (
      ['--steps', 1, '--batch', 1],
      'ModelSpec.name is not set: give --config, or a gin file that sets it.',
    ),
    (
      ['--steps', 1, '--config', 'hibert_tiny'],
      'InputConfig.batch_size is not set: give --batch, or a gin file',
    ),
    (
      ['--config', 'hibert_tiny'],
      'InputConfig.batch_size and TrainConfig.steps are not set: give --batch'
      ' and --steps, or a gin file that sets them.',
    ),
    (
      ['--gin', 'gin/hibert_tiny.gin'],
      'VALIDATION is not set: give --validation, or a gin file',
    ),
    (['--gin', 'absent.gin'], 'absent.gin: no such file'),
    (['--set', 'steps'], 'must be NAME=VALUE'),
    (['--distributed', 'here'], 'auto or HOST:PORT,PROCESSES,INDEX'),
    (
      [
        '--config',
        'hibert_tiny',
        '--steps',
        1,
        '--batch',
        1,
        '--tokenizer',
        'roberta',
      ],
      "made with 'wordpiece'",
    ),
  ],
)
def test_mistakes_are_explained(arguments, message, tmp_path):
  records = write_records(tmp_path, count=2)
  output = tmp_path / 'run'
  result = invoke('train', records, '--output', output, *arguments)
  assert message in str(result.exception)
  assert not (output / 'bundle').exists()


@pytest.mark.slow
def test_divergence_is_one_sentence(tmp_path):
  records = write_records(tmp_path)
  code, output, errors = run(
    *flags(records, tmp_path / 'run', 5, '--learning-rate', '1e30')
  )
  assert (code, output) == (1, '')
  (line,) = errors.splitlines()
  assert line.startswith('stepwise: training diverged at step 2')


@pytest.mark.slow
def test_a_killed_run_continues_to_the_same_bits(tmp_path):
  records = write_records(tmp_path)
  often = (
    '--set',
    'CheckpointConfig.every=3',
    '--set',
    'TrainConfig.log_every=1',
  )
  whole, killed = tmp_path / 'whole', tmp_path / 'killed'
  assert run(*flags(records, whole, 60, *often))[0] == 0
  for last in (7, 25):
    process = start(*flags(records, killed, 60, *often))
    metrics = killed / 'metrics.jsonl'
    kill_when(
      process,
      lambda m=metrics, n=last: (
        m.exists() and max(losses(m.parent), default=0) >= n
      ),
    )
    assert not (killed / 'bundle').exists()
  code, _output, errors = run(*flags(records, killed, 60, *often))
  assert code == 0, errors
  assert weights(killed) == weights(whole)
  assert losses(killed) == losses(whole)
  assert list(losses(killed)) == list(range(1, 61))


def free_port():
  with socket.socket() as found:
    found.bind(('localhost', 0))
    return found.getsockname()[1]


@pytest.mark.slow
def test_two_processes_train_as_one(tmp_path):
  records = write_records(tmp_path)
  log = (
    '--set',
    'TrainConfig.log_every=1',
    '--set',
    'CheckpointConfig.every=2',
  )
  # See `tiny_config`: rounding must not grow.
  log += ('--set', 'OptimizerConfig.epsilon=1e-3')
  alone, together = tmp_path / 'alone', tmp_path / 'together'
  assert run(*flags(records, alone, 4, *log))[0] == 0
  address = f'localhost:{free_port()}'
  processes = [
    start(
      *flags(records, together, 4, *log, '--set', 'MeshConfig.data=2'),
      *('--distributed', f'{address},2,{index}'),
    )
    for index in range(2)
  ]
  for process in processes:
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
  expected, found = losses(alone), losses(together)
  assert found.keys() == expected.keys()
  for step, loss in expected.items():
    np.testing.assert_allclose(found[step], loss, rtol=1e-5)
  assert weights(together)


def test_a_run_adopts_the_numerics_of_its_start(tmp_path):
  """Other activations than the weights were trained with would spoil them.

  The run scans over layers; what it starts from and what it leaves do not.
  """
  records = write_records(tmp_path)
  config = find_config('bertsum_tiny').with_settings(
    activation='gelu_tanh', norm_epsilon=1e-3
  )
  twin_records = write_records(tmp_path, extractive=True)
  params = config.build().init(jax.random.key(3), *config.smallest_inputs())
  source = tmp_path / 'source'
  save_bundle(source, config, nn.unbox(params)['params'], tokenizer='wordpiece')
  output = tmp_path / 'run'
  result = invoke(
    *('train', twin_records, '--config', 'bertsum_tiny', '--steps', 1),
    *('--batch', 2, '--learning-rate', 0, '--output', output, *ONE_DEVICE),
    *('--init', source, '--scan-layers', '--set', 'ModelSpec.dropout=0.0'),
  )
  assert result.exit_code == 0, result.output
  written = json.loads((output / 'config.json').read_text())['model']
  assert written['activation'] == 'gelu_tanh'
  assert written['norm_epsilon'] == 1e-3
  assert written['scan_layers']
  bundle = load_bundle(output / 'bundle')
  assert bundle.config == config
  jax.tree.map(
    np.testing.assert_array_equal,
    bundle.variables['params'],
    load_bundle(source).variables['params'],
  )
  wrong = invoke(*flags(records, output, 1, '--size', 'encoder'))
  assert isinstance(wrong.exception, InputError)
  assert "--size is 'encoder', must be NAME=VALUE" in str(wrong.exception)
