"""Verbs with `--runner`: what they write without it."""

import json

import pytest
from typer.testing import CliRunner

from stepwise.cli.main import app
from tests.beam.sources import joined, write_input

RUNNER = ['--runner', 'DirectRunner', '--part', '4']
# What is Beam's own.
OWN = ['--', '--direct_num_workers', '1']


def invoke(*arguments):
  return CliRunner().invoke(app, [*map(str, arguments)])


@pytest.mark.parametrize(
  'verb', [['oracle', '--order', 'selection'], ['data', 'build', '--twin']]
)
def test_files_are_those_of_one_machine(verb, tmp_path):
  source = write_input(tmp_path / 'in.jsonl')
  assert invoke(*verb, source, tmp_path / 'here.jsonl').exit_code == 1
  there = invoke(*verb, source, tmp_path / 'out.jsonl', *RUNNER, *OWN)
  assert there.exit_code == 1
  assert 'out-00000-of-00003.jsonl to 00002: 9 lines in 3 files' in there.stdout
  text = (tmp_path / 'here.jsonl').read_text()
  assert joined(tmp_path, 'out-*') == text


def test_summaries_and_their_scores_are_those_of_one_machine(tmp_path):
  source = write_input(tmp_path / 'in.jsonl', bad=False)
  here, there = tmp_path / 'here.jsonl', tmp_path / 'out.jsonl'
  assert invoke('infer', 'lexrank', source, here).exit_code == 0
  result = invoke('infer', 'lexrank', source, there, *RUNNER)
  assert result.exit_code == 0
  assert f'{there}: 11 summaries, 0 errors' in result.stdout
  assert joined(tmp_path, 'out-*') == here.read_text()
  names = {'here': [here], 'there': [f'{tmp_path}/out-*.jsonl', *RUNNER]}
  found = {}
  for name, (predictions, *flags) in names.items():
    path = tmp_path / f'{name}.json'
    done = invoke(
      *('evaluate', predictions, source, 'lead:2', 'oracle', '--sample', 7),
      *('--save-json', path, *flags, *(OWN if flags else [])),
    )
    assert done.exit_code == 0, done.output
    found[name] = json.loads(path.read_text().replace(str(predictions), 'P'))
  for key in ('systems', 'comparisons', 'anova_p', 'human_lengths'):
    assert found['here'][key] == found['there'][key]


def test_options_of_the_one_are_not_for_the_other(tmp_path):
  source = write_input(tmp_path / 'in.jsonl')
  target = tmp_path / 'out.jsonl'
  for flags, message in {
    ('--part', 3): '--part is for --runner',
    (*RUNNER, '--processes', 2): '--processes is not for --runner',
    (*RUNNER, '--', '--sail'): 'no option --sail',
    ('--runner', 'Fast'): 'must be one of DirectRunner',
  }.items():
    result = invoke('oracle', source, target, *flags)
    assert message in str(result.exception), flags
  assert [path.name for path in tmp_path.iterdir()] == ['in.jsonl']
