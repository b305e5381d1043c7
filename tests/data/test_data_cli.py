"""`stepwise data`: exit codes, what is printed, what is written."""

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from stepwise._errors import InputError
from stepwise.cli.data import app
from stepwise.data import load_records

GOOD = {'id': 'a', 'article': 'It rained. We left.', 'highlights': ['We left.']}


def _run(*arguments):
  return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def good(tmp_path):
  path = tmp_path / 'good.jsonl'
  path.write_text(json.dumps(GOOD) + '\n')
  return path


@pytest.fixture
def bad(tmp_path):
  path = tmp_path / 'bad.jsonl'
  path.write_text(json.dumps(GOOD) + '\n{\n')
  return path


def test_check_of_clean_files(good):
  result = _run('check', good)
  assert result.exit_code == 0, result.output
  head, units, words, summary = result.output.splitlines()
  assert head == (
    f'{good}: 1 documents, 0 without summary, 0 duplicates, 0 bad lines'
  )
  assert units.split()[:3] == ['units', 'mean', '2.0,']
  assert words.split()[:3] == ['words', 'mean', '4.0,']
  assert summary.split()[:4] == ['summary', 'units', 'mean', '1.0,']


def test_check_lists_duplicates_and_bad_lines(good, bad):
  result = _run('check', good, bad)
  assert result.exit_code == 1
  assert f'  duplicate: a is a of {good}\n' in result.output
  assert f'  bad: {bad}:2: not JSON: ' in result.output


def test_check_shortens_long_lists_of_duplicates(tmp_path):
  path = tmp_path / 'a.jsonl'
  path.write_text((json.dumps(GOOD) + '\n') * 13)
  result = _run('check', path)
  assert result.output.count('duplicate: ') == 10
  assert 'and 2 more duplicates: --json lists all' in result.output


def test_check_as_json(good, bad):
  result = _run('check', good, bad, '--json')
  assert result.exit_code == 1
  first, second = json.loads(result.output)
  assert first['documents'] == 1
  assert first['units']['mean'] == 2.0
  assert second['bad_lines'][0]['line'] == 2
  assert second['duplicates'][0]['first_path'] == str(good)


def test_check_of_an_unusable_file(tmp_path):
  result = _run('check', tmp_path / 'none.jsonl')
  assert isinstance(result.exception, InputError)
  assert 'no such file' in str(result.exception)


def test_an_unusable_file_is_one_sentence_and_exit_code_2(tmp_path):
  path = tmp_path / 'none.jsonl'
  result = subprocess.run(
    [sys.executable, '-m', 'stepwise.cli.main', 'data', 'check', str(path)],
    capture_output=True,
    text=True,
    check=False,
  )
  assert result.stderr == f'stepwise: {path}: no such file.\n'
  assert result.returncode == 2


def test_build(good, tmp_path):
  target = tmp_path / 'out.jsonl'
  result = _run('build', good, target, '--processes', 1, '--max-tokens', 5)
  assert result.exit_code == 0, result.output
  [(record, oracle)] = load_records(target)
  assert record.special_units == ('eot', 'beg')
  assert record.units_cut == 1
  assert oracle == ()
  assert result.output.replace('\n', ' ').startswith(
    f'{target}: 1 records; 1 documents lack 1 units, 0 units are shortened; '
  )


OTHER_SCRIPTS = {
  'ru': (['Зима ушла из города.', 'Весна пришла рано.'], ['Весна']),
  'zh': (['冬天过去了。', '春天来得很早。', '我们很高兴。'], ['春天来了']),
  'de': (['Es regnete.', 'Die Züge fahren schöner.'], ['Züge schöner']),
}


@pytest.mark.parametrize('language', OTHER_SCRIPTS)
def test_oracles_of_other_languages_have_words_of_all_scripts(
  tmp_path, language
):
  """At d5533f8 they were empty unless --unicode was given."""
  source, target = tmp_path / 'in.jsonl', tmp_path / 'out.jsonl'
  article, highlights = OTHER_SCRIPTS[language]
  row = {'article': article, 'highlights': highlights, 'language': language}
  source.write_text(json.dumps(row) + '\n')
  for arguments in ((), ('--unicode',), ('--metric', 'rouge-1.5.5-unstemmed')):
    result = _run('build', source, target, '--processes', 1, *arguments)
    assert result.exit_code == 0, result.output
    [(_, oracle)] = load_records(target)
    assert oracle == (1,)


def test_scripts_are_told_where_languages_are_not(tmp_path):
  source, target = tmp_path / 'in.jsonl', tmp_path / 'out.jsonl'
  row = {'article': ['ཀཁག ངཅཆ', 'ཉཏཐ དནཔ'], 'highlights': ['ཉཏཐ']}
  source.write_text(json.dumps(row) + '\n')
  assert _run('build', source, target, '--processes', 1).exit_code == 0
  [(_, oracle)] = load_records(target)
  assert oracle == (1,)


def test_build_for_extractive_models_with_given_oracles(bad, tmp_path):
  oracle, target = tmp_path / 'oracle.jsonl', tmp_path / 'out.jsonl'
  oracle.write_text('{"id": "a", "oracle": [0]}\n')
  result = _run('build', bad, target, '--twin', '--oracle', oracle)
  assert result.exit_code == 1
  assert f'bad: {bad}:2: not JSON' in result.output
  [(record, units)] = load_records(target)
  assert (record.special, units) == (0, (0,))


def test_build_names_an_unknown_tokenizer(good, tmp_path):
  result = _run('build', good, tmp_path / 'out', '--tokenizer', 'sentencepiece')
  assert isinstance(result.exception, InputError)
  assert "the tokenizer is 'sentencepiece'; it must be" in str(result.exception)
