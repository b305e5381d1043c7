"""`stepwise infer`: order, bad lines, kill -9."""

import dataclasses
import json

import jax
import pytest
from flax import linen as nn
from typer.testing import CliRunner

import stepwise
from stepwise._errors import InputError
from stepwise.checkpoints import load_bundle, save_bundle
from stepwise.cli.main import app
from stepwise.inference import PredictConfig
from stepwise.models import NEWS_DECODING
from stepwise.summarization import _models
from stepwise.training import ModelSpec, resolve_model
from tests.summarization.tiny_bundles import tiny_bundle
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


def test_a_length_can_be_asked_for(bundle, tmp_path):
  articles = write_articles(tmp_path / 'in.jsonl', 2)
  lengths = {}
  for name, flags in {
    'one': ['--sentences', 1],
    'auto': ['-n', 'auto'],
    'words': ['--words', 12],
  }.items():
    out = tmp_path / f'{name}.jsonl'
    assert infer(bundle, articles, out, *flags).exit_code == 0
    lengths[name] = [len(row['units']) for row in rows(out)]
    for row in rows(out):
      text = ' '.join(row['summary'])
      assert name != 'words' or len(text.split()) <= 12
  assert lengths['one'] == [1, 1]
  assert all(lengths['auto'])
  wrong = infer(bundle, articles, tmp_path / 'x', '-n', 'three')
  assert "sentences is 'three'" in str(wrong.exception)


SENTENCE = 'It rained on day {} of the year and nobody left the harbour.'


def test_long_documents_are_read_whole_as_summarize_reads_them(tmp_path):
  """At d5533f8 what follows the 30th sentence was dropped without a word."""
  folder = tiny_bundle(tmp_path / 'tiny')
  short = [SENTENCE.format(day) for day in range(7)]
  texts = [short, ['Nothing was said.'] * 40 + short]
  path, out = tmp_path / 'in.jsonl', tmp_path / 'out.jsonl'
  path.write_text(''.join(json.dumps({'article': t}) + '\n' for t in texts))
  result = infer(folder, path, out)
  assert result.exit_code == 0
  assert result.stderr == ''
  expected = [
    stepwise.summarize(text, model=folder, order='selection') for text in texts
  ]
  assert [row['summary'] for row in rows(out)] == [
    [sentence.text for sentence in summary] for summary in expected
  ]
  assert max(rows(out)[1]['units']) >= 40
  assert not any('warnings' in row for row in rows(out))


def test_what_is_not_read_is_said_in_the_line_and_beside(tmp_path):
  folder = tiny_bundle(tmp_path / 'tiny')
  path, out = tmp_path / 'in.jsonl', tmp_path / 'out.jsonl'
  long = 'rain fell on the harbour and ' * 20
  many = [SENTENCE.format(day) for day in range(50)]
  texts = [['It rained.'], [long], [*many, long]]
  path.write_text(''.join(json.dumps({'article': t}) + '\n' for t in texts))
  result = infer(folder, path, out)
  assert result.stderr == f'stepwise: 2 lines of {out} have warnings.\n'
  found = [row.get('warnings', []) for row in rows(out)]
  assert found[0] == []
  assert [each[0][:15] for each in found[1:]] == [
    '1 of 1 sentence',
    '1 of 51 sentenc',
  ]
  assert all('read only in part' in each[0] for each in found[1:])


def test_headings_are_not_chosen(bundle, tmp_path):
  path, out = tmp_path / 'in.jsonl', tmp_path / 'out.jsonl'
  article = ['Rain', 'The match was called off.', 'Sport', 'Nobody minded it.']
  path.write_text(json.dumps({'article': article}) + '\n')
  assert infer(bundle, path, out).exit_code == 0
  assert set(rows(out)[0]['units']) <= {1, 3}


def test_the_packaged_model_has_a_name(tmp_path, monkeypatch):
  """At d5533f8 `default` was looked for as a folder."""
  folder = tiny_bundle(tmp_path / 'tiny')
  monkeypatch.setattr(_models, 'default_folder', lambda: folder)
  articles = write_articles(tmp_path / 'in.jsonl', 3)
  found = []
  for name in ('default', 'auto', folder):
    out = tmp_path / 'out.jsonl'
    assert infer(name, articles, out).exit_code == 0
    found.append([sorted(row['units']) for row in rows(out)])
  assert found[0] == found[1] == found[2]


def test_rankers_have_no_settings(tmp_path):
  articles = write_articles(tmp_path / 'in.jsonl', 2)
  out = tmp_path / 'out.jsonl'
  assert infer('lead', articles, out).exit_code == 0
  assert [row['units'] for row in rows(out)] == [[0, 1, 2], [0, 1, 2]]
  done = infer(
    'lead', articles, tmp_path / 'o', '--set', 'PredictConfig.top_k=2'
  )
  assert 'lead is no trained model' in str(done.exception)
  done = infer('lead', articles, tmp_path / 'o', '--sequence', '2')
  assert 'lead is no trained model: --sequence' in str(done.exception)
  done = infer('lead', articles, tmp_path / 'o', '--products', 'float32')
  assert 'lead is no trained model: --products is' in str(done.exception)


def test_products_are_a_choice(bundle, tmp_path):
  articles = write_articles(tmp_path / 'in.jsonl', 3)
  out = tmp_path / 'out.jsonl'
  for name in ('bfloat16', 'float32'):
    assert infer(bundle, articles, out, '--products', name).exit_code == 0
    assert len(rows(out)) == 3
    out = tmp_path / 'other.jsonl'
  assert infer(bundle, articles, out, '--products', 'int4').exit_code == 2


@pytest.mark.parametrize(
  ('make', 'message'),
  [
    (
      lambda b, p: (p / 'no', p / 'in.jsonl', p / 'o'),
      'no is neither the folder',
    ),
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
  assert [each.name for each in tmp_path.iterdir()] == ['in.jsonl']


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
