"""`stepwise infer`: order, bad lines, kill -9."""

import dataclasses
import json

import jax
import pytest
from flax import linen as nn
from typer.testing import CliRunner

from stepwise._errors import InputError
from stepwise.checkpoints import load_bundle, save_bundle
from stepwise.cli.main import app
from stepwise.inference import PredictConfig
from stepwise.models import NEWS_DECODING
from stepwise.training import ModelSpec, resolve_model
from tests.training.processes import kill_when, run, start
from tests.training.runs import write_articles


@pytest.fixture(scope='module')
def bundle(tmp_path_factory):
  """Random weights: what matters here is the file around them."""
  folder = tmp_path_factory.mktemp('bundles') / 'bundle'
  config = resolve_model(ModelSpec('hibert_tiny'))
  variables = config.build().init(jax.random.key(1), *config.smallest_inputs())
  save_bundle(folder, config, nn.unbox(variables)['params'])
  return folder


def infer(*arguments):
  return CliRunner().invoke(app, ['infer', *map(str, arguments)])


def rows(path):
  return [json.loads(line) for line in path.read_text().splitlines()]


def spoil(articles):
  """Makes line 2 no JSON, line 4 blank and line 6 no document."""
  lines = articles.read_text().splitlines()
  lines[1], lines[3], lines[5] = '{"article": ', '', '{"article": "  "}'
  articles.write_text('\n'.join(lines) + '\n')


def test_bad_lines_become_errors_in_their_place(bundle, tmp_path):
  articles = write_articles(tmp_path / 'in.jsonl', 7)
  spoil(articles)
  out = tmp_path / 'out.jsonl'
  result = infer(bundle, articles, out, '--batch', 2)
  assert result.exit_code == 1
  assert result.stdout == f'{out}: 4 summaries, 2 errors\n'
  found = rows(out)
  # A blank line holds nothing to lose.
  assert [row['line'] for row in found] == [1, 2, 3, 5, 6, 7]
  assert [row['line'] for row in found if 'error' in row] == [2, 6]
  assert 'not JSON' in found[1]['error']
  assert 'has no text' in found[4]['error']
  assert [row['id'] for row in found if 'id' in row] == [
    f'article-{i}' for i in (0, 2, 4, 6)
  ]


def test_blocking_leaves_no_trigram_twice(bundle, tmp_path):
  path = tmp_path / 'in.jsonl'
  sentence = 'The old harbour opens again on Monday'
  article = f'{sentence}. {sentence} at noon. {sentence} for all. Rain fell.'
  path.write_text(json.dumps({'article': article}) + '\n')
  chosen = {}
  for name, flags in {'free': [], 'blocked': ['--trigram-blocking']}.items():
    out = tmp_path / f'{name}.jsonl'
    assert infer(bundle, path, out, *flags).exit_code == 0
    chosen[name] = rows(out)[0]['units']
  assert sum(unit < 3 for unit in chosen['blocked']) <= 1
  # Otherwise the test would say nothing.
  assert chosen['free'] != chosen['blocked']


def test_the_bundle_says_how_to_choose(bundle, tmp_path):
  articles = write_articles(tmp_path / 'in.jsonl', 3)
  decode = dataclasses.replace(NEWS_DECODING, max_units=2, min_units=2)
  loaded = load_bundle(bundle)
  save_bundle(
    tmp_path / 'two',
    loaded.config,
    loaded.variables['params'],
    decoding=PredictConfig(decode),
  )
  out = tmp_path / 'out.jsonl'
  assert infer(tmp_path / 'two', articles, out).exit_code == 0
  assert [len(row['units']) for row in rows(out)] == [2, 2, 2]


@pytest.mark.parametrize(
  ('make', 'message'),
  [
    (lambda b, p: (p / 'no', p / 'in.jsonl', p / 'o'), 'no: no such folder'),
    (lambda b, p: (b, p / 'no.jsonl', p / 'o'), 'no.jsonl: no such file'),
    (
      lambda b, p: (
        (
          b,
          p / 'in.jsonl',
          p / 'o',
          '--set',
          'PredictConfig.decode=@DecodeConfig()',
          '--set',
          'DecodeConfig.max_units=3',
        )
      ),
      'must have unit 1, the BEG',
    ),
  ],
)
def test_mistakes_are_explained(bundle, tmp_path, make, message):
  write_articles(tmp_path / 'in.jsonl', 1)
  result = infer(*make(bundle, tmp_path))
  assert isinstance(result.exception, InputError)
  assert message in str(result.exception)


@pytest.mark.slow
def test_a_killed_run_continues_without_losing_a_line(bundle, tmp_path):
  articles = write_articles(tmp_path / 'in.jsonl', 4000)
  spoil(articles)
  whole, killed = tmp_path / 'whole.jsonl', tmp_path / 'killed.jsonl'
  assert run('infer', bundle, articles, whole)[0] == 1
  partial = tmp_path / 'killed.jsonl.partial'
  written = 0
  for _ in range(2):
    process = start('infer', bundle, articles, killed)
    kill_when(
      process,
      lambda n=written: partial.exists() and partial.stat().st_size > n,
    )
    assert not killed.exists()
    written = partial.stat().st_size
  code, output, errors = run('infer', bundle, articles, killed)
  assert code == 1, errors
  assert output == f'{killed}: 3997 summaries, 2 errors\n'
  assert killed.read_text() == whole.read_text()
  assert not partial.exists()
