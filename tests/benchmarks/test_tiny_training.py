"""Articles in, ROUGE and a bundle that summarises out; at toy size."""

import json

import pytest
from typer.testing import CliRunner

from benchmarks.tiny_training import LIMITS, _parse, pipeline
from stepwise.checkpoints import load_bundle
from stepwise.cli.main import app
from tests.training.runs import write_articles


def in_process(commands):
  """Runs verbs without a new process for each, and remembers them."""

  def verb(arguments):
    commands.append(arguments[0])
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output

  return verb


@pytest.fixture(scope='module')
def run(tmp_path_factory):
  folder = tmp_path_factory.mktemp('tiny')
  options = _parse(
    [
      str(folder / 'run'),
      *('--train', str(write_articles(folder / 'train.jsonl', 20))),
      *('--valid', str(write_articles(folder / 'valid.jsonl', 9, seed=1))),
      *('--documents', '16', '--scored', '5', '--steps', '2'),
    ]
  )
  commands = []
  pipeline(options, in_process(commands))
  # Nothing is left to do: the same command ends with the same scores.
  before = (folder / 'run' / 'etcsum' / 'summaries.jsonl').read_text()
  pipeline(options, in_process(again := []))
  assert (folder / 'run' / 'etcsum' / 'summaries.jsonl').read_text() == before
  assert 'data' in commands and 'data' not in again
  return folder / 'run'


@pytest.mark.slow
def test_from_articles_to_scores(run):
  report = json.loads((run / 'rouge.json').read_text())
  names = [system['name'] for system in report['systems']]
  assert [name.removeprefix(f'{run}/') for name in names] == [
    'etcsum/summaries.jsonl',
    'hibert/summaries.jsonl',
    'lead:3',
  ]
  articles = [
    json.loads(line) for line in (run / 'valid.jsonl').read_text().splitlines()
  ]
  assert len(articles) == 5
  for name in LIMITS:
    lines = (run / name / 'summaries.jsonl').read_text().splitlines()
    for line, article in zip(lines, articles, strict=True):
      row = json.loads(line)
      assert row['id'] == article['id']
      assert row['summary']
      assert all(sentence in article['article'] for sentence in row['summary'])
    assert load_bundle(run / name / 'bundle').tokenizer is not None
