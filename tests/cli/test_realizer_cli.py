"""From games to a trained realizer and its report, by commands alone."""

import json

import pytest
from typer.testing import CliRunner

from stepwise._errors import InputError
from stepwise.cli.main import app
from stepwise.realization import load_examples
from tests.realization.runs import SENTENCES
from tests.rotowire.games import game_fields


def invoke(*args):
  return CliRunner().invoke(app, list(map(str, args)))


@pytest.fixture
def games(tmp_path):
  path = tmp_path / 'games.json'
  path.write_text(json.dumps([game_fields(' '.join(SENTENCES))]))
  return path


def test_examples_are_counted(games, tmp_path):
  out = tmp_path / 'examples.jsonl'
  shown = invoke('data', 'realize', games, out, '--covered', '--max-input', 275)
  assert shown.stdout == (
    f'{out}: 7 examples of 8 sentences; 0 not covered and 1 too long left out\n'
  )
  examples, tokenizer, format = load_examples(out)
  assert (len(examples), tokenizer, format.context) == (7, 'wordpiece', True)


def test_games_of_other_files_are_left_out(games, tmp_path):
  out = tmp_path / 'examples.jsonl'
  result = invoke('data', 'realize', games, out, '--slots', '--exclude', games)
  assert result.exit_code == 0, result.output
  assert '0 examples of 0 sentences' in result.stdout


@pytest.mark.slow
def test_train_and_report(games, tmp_path):
  examples, run = tmp_path / 'examples.jsonl', tmp_path / 'run'
  invoke('data', 'realize', games, examples, '--no-context')
  options = ['--config', 'realizer_tiny', '--steps', 1, '--batch', 8]
  options += ['--set', 'MeshConfig.data=1', '--output', run]
  options += ['--set', 'InputConfig.buckets=@Buckets()']
  options += ['--set', 'Buckets.lengths=(160,)', '--set', 'Buckets.units=(32,)']
  shown = invoke('train', examples, *options)
  assert shown.stdout == f'{run / "bundle"}: step 1\n', shown.exception
  bundle = run / 'bundle'
  assert json.loads((bundle / 'realizer.json').read_text()) == {
    'context': False,
    'slots': False,
  }
  report = invoke('report', games, '--realizer', bundle, '--json', '--beams', 1)
  content = json.loads(report.stdout)
  assert content['realizer'] == str(bundle)
  assert len(content['sentences']) == len(content['plan'])


def test_another_tokenizer_is_refused(games, tmp_path):
  examples = tmp_path / 'examples.jsonl'
  invoke('data', 'realize', games, examples)
  options = ['--config', 'realizer_tiny', '--steps', 1, '--batch', 8]
  shown = invoke(
    *('train', examples, *options, '--output', tmp_path / 'run'),
    *('--tokenizer', tmp_path),
  )
  assert isinstance(shown.exception, InputError)
  assert 'the records were made with' in str(shown.exception)
