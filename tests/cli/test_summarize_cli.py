"""`stepwise summarize` and `stepwise demo`, as a user calls them."""

import json

import pytest
from typer.testing import CliRunner

from stepwise._errors import InputError
from stepwise.cli.main import app
from stepwise.summarization import sample_article, summarize

TEXT = 'It rained all day. The match was called off. Nobody minded much.'


def invoke(*args, **options):
  return CliRunner().invoke(app, list(args), **options)


def test_file_and_standard_input_give_the_same_text(tmp_path):
  path = tmp_path / 'story.txt'
  path.write_text(TEXT)
  from_file = invoke('summarize', str(path), '--sentences', '2')
  from_stdin = invoke('summarize', '-', '--sentences', '2', input=TEXT)
  assert from_file.exit_code == 0
  assert from_file.stdout == 'It rained all day.\nThe match was called off.\n'
  assert from_stdin.stdout == from_file.stdout


def test_json_has_offsets(tmp_path):
  path = tmp_path / 'story.txt'
  path.write_text(TEXT)
  result = json.loads(
    invoke('summarize', str(path), '--sentences', '1', '--json').stdout
  )
  (sentence,) = result['sentences']
  assert TEXT[sentence['start'] : sentence['end']] == sentence['text']
  assert result['words'] == 4


def test_demo_prints_the_summary_alone_on_standard_output():
  result = invoke('demo')
  assert result.exit_code == 0
  assert result.stdout.strip() == summarize(sample_article()).text
  assert 'lead baseline: no trained model is bundled yet' in result.stderr


@pytest.mark.parametrize(
  ('content', 'message'),
  [
    (b'', 'the text is empty'),
    (b'a\0b', 'is not a text file: it has NUL bytes'),
    (b'caf\xe9', 'is not UTF-8: byte 3 cannot be decoded'),
  ],
)
def test_bad_files_are_one_sentence(tmp_path, content, message):
  path = tmp_path / 'bad.txt'
  path.write_bytes(content)
  result = invoke('summarize', str(path))
  assert isinstance(result.exception, InputError)
  assert message in str(result.exception)


def test_missing_file_and_folder(tmp_path):
  missing = invoke('summarize', str(tmp_path / 'none.txt'))
  assert 'does not exist' in str(missing.exception)
  folder = invoke('summarize', str(tmp_path))
  assert 'cannot be read: Is a directory' in str(folder.exception)
