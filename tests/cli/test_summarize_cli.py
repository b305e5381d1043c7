"""`stepwise summarize` and `stepwise demo`, as a user calls them."""

import errno
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jax
import pytest
from typer.testing import CliRunner

import stepwise
from stepwise import _runtime
from stepwise._errors import InputError
from stepwise.checkpoints import _files
from stepwise.cli.main import app
from stepwise.summarization import _models, sample_article, summarize
from tests.summarization.tiny_bundles import tiny_bundle

TEXT = 'It rained all day. The match was called off. Nobody minded much.'


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
  """Tests neither profit from the user's cache nor fill it."""
  monkeypatch.setenv('STEPWISE_CACHE', 'off')


@pytest.fixture(scope='module')
def bundle(tmp_path_factory):
  return tiny_bundle(tmp_path_factory.mktemp('bundles') / 'tiny')


@pytest.fixture
def story(tmp_path):
  path = tmp_path / 'story.txt'
  path.write_text(TEXT)
  return str(path)


def invoke(*args, **options):
  return CliRunner().invoke(app, list(map(str, args)), **options)


def lead(*args, **options):
  return invoke('summarize', '--model', 'lead', *args, **options)


def test_file_and_standard_input_give_the_same_text(story):
  from_file = lead(story, '--sentences', '2')
  from_stdin = lead('-', '-n', '2', input=TEXT)
  assert from_file.exit_code == 0
  assert from_file.stdout == 'It rained all day.\nThe match was called off.\n'
  assert from_stdin.stdout == from_file.stdout
  assert from_file.stderr == ''


def test_options_reach_the_search(story):
  assert lead(story, '--words', '5').stdout == 'It rained all day.\n'
  assert lead(story, '--ratio', '0.4').stdout == 'It rained all day.\n'
  by_number = lead(story, '-n', '2', '--must-include', '3')
  assert by_number.stdout == 'It rained all day.\nNobody minded much.\n'
  by_text = lead(story, '-n', '1', '--must-include', 'match')
  assert by_text.stdout == 'The match was called off.\n'
  wrong = lead(story, '--ratio', '2')
  assert 'ratio is 2.0, must be above 0' in str(wrong.exception)


def test_json_is_the_whole_result(story, bundle):
  arguments = ('-n', '2', '--order', 'selection', '--trigram-blocking')
  done = invoke('summarize', story, '--json', '--model', bundle, *arguments)
  result = json.loads(done.stdout)
  expected = summarize(
    TEXT, sentences=2, order='selection', model=bundle, trigram_blocking=True
  )
  assert result == json.loads(json.dumps(expected.to_dict()))
  for sentence in result['sentences']:
    assert TEXT[sentence['start'] : sentence['end']] == sentence['text']


def test_html_is_written_beside_the_summary(story, tmp_path):
  page = tmp_path / 'page.html'
  done = lead(story, '-n', '1', '--html', page)
  assert done.stdout == 'It rained all day.\n'
  assert done.stderr == f'stepwise: wrote {page}.\n'
  assert '>story.txt</h1>' in page.read_text()
  assert sorted(p.name for p in tmp_path.iterdir()) == [
    'page.html',
    'story.txt',
  ]
  missing = lead(story, '--html', tmp_path / 'no' / 'page.html')
  assert 'no such folder' in str(missing.exception)
  many = lead(tmp_path, '--html', page)
  assert '--html shows one document' in str(many.exception)


def test_more_options_reach_the_search(story):
  assert lead(story, '--characters', '20').stdout == 'It rained all day.\n'
  without = lead(story, '-n', '1', '--must-exclude', '1')
  assert without.stdout == 'The match was called off.\n'
  whole = lead(story, '-n', '1', '--split', 'paragraphs')
  assert whole.stdout == f'{TEXT}\n'
  about = lead(story, '-n', '1', '--about', 'nobody', '--language', 'de')
  assert about.stdout == 'Nobody minded much.\n'
  wrong = lead(story, '-n', 'three')
  assert "sentences is 'three' of type str" in str(wrong.exception)
  unknown = lead(story, '--units', 'verbs')
  assert "units has 'verbs'" in str(unknown.exception)


def test_headings_are_context_unless_asked_for(tmp_path):
  path = tmp_path / 'a.md'
  path.write_text(f'# Rain over Marne\n\nBy Anna Reed\n\n{TEXT}\n')
  assert lead(path, '-n', '1').stdout == 'It rained all day.\n'
  every = lead(path, '-n', '2', '--units', 'all')
  assert every.stdout == 'Rain over Marne\nBy Anna Reed\n'


def test_rows_of_standard_input_and_a_key(tmp_path):
  row = json.dumps({'id': 'a', 'words': TEXT})
  done = lead('-', '-n', '1', '--text-key', 'words', input=f'{row}\n')
  assert json.loads(done.stdout) == {
    'line': 1,
    'id': 'a',
    'numbers': [1],
    'summary': ['It rained all day.'],
  }


def test_several_files(story, tmp_path):
  page = tmp_path / 'b.md'
  page.write_text('Second text. More.')
  done = lead(story, page, '-n', '1')
  assert done.stdout == (
    '==> story.txt <==\nIt rained all day.\n\n==> b.md <==\nSecond text.\n\n'
  )


def test_results_can_be_evaluated(tmp_path):
  path = tmp_path / 'in.jsonl'
  rows = [{'id': name, 'text': TEXT, 'summary': 'It rained.'} for name in 'ab']
  path.write_text(''.join(json.dumps(row) + '\n' for row in rows))
  for flags in ([], ['--json']):
    out = tmp_path / 'out.jsonl'
    out.write_text(lead(path, '-n', '1', *flags).stdout)
    done = invoke('evaluate', out, path)
    assert done.exit_code == 0, done.exception
    piped = invoke('evaluate', '-', path, input=out.read_bytes())
    assert piped.exit_code == 0, piped.exception
    numbers = re.compile(r'\d+\.\d\d')
    assert numbers.findall(piped.stdout) == numbers.findall(done.stdout)
    assert 'standard input' in piped.stdout


def test_auto_says_what_it_took(tmp_path, bundle, monkeypatch):
  monkeypatch.setattr(_models, 'default_folder', lambda: bundle)
  english = tmp_path / 'en.txt'
  english.write_text('The match was called off as it had rained all day. ' * 3)
  german = tmp_path / 'de.txt'
  german.write_text('Das Spiel wurde abgesagt, weil es den ganzen Tag regnete.')
  done = invoke('summarize', english, '-n', '1')
  assert 'chosen by tiny, as the text is short and English' in done.stderr
  done = invoke('summarize', german, '-n', '1')
  assert 'chosen by coverage, as the text is German' in done.stderr
  done = invoke('summarize', german, '-n', '1', '--model', 'default')
  assert 'trained on English, but the text is German' in done.stderr


def test_a_folder_of_texts(tmp_path):
  (tmp_path / 'b.txt').write_text('Second text. More.')
  (tmp_path / 'a.md').write_text('First text. More.')
  (tmp_path / 'c.txt').write_bytes(b'\xff')
  (tmp_path / 'd.png').write_bytes(b'\0')
  done = lead(tmp_path, '-n', '1')
  assert done.exit_code == 1
  assert done.stdout == (
    '==> a.md <==\nFirst text.\n\n==> b.txt <==\nSecond text.\n\n'
  )
  assert f'stepwise: {tmp_path / "c.txt"}: not UTF-8' in done.stderr
  nothing = lead(tmp_path / 'a.md', '-', input=b'')
  assert nothing.stderr == 'stepwise: standard input: there is no text in it.\n'
  rows = [
    json.loads(line) for line in lead(tmp_path, '--json').stdout.splitlines()
  ]
  assert [row['file'] for row in rows] == ['a.md', 'b.txt', 'c.txt']
  assert 'not UTF-8' in rows[2]['error']
  (tmp_path / 'empty').mkdir()
  empty = lead(tmp_path / 'empty')
  assert 'empty has no documents' in str(empty.exception)


def test_a_line_for_every_line(tmp_path):
  path = tmp_path / 'in.jsonl'
  lines = [
    json.dumps({'id': 'a', 'article': 'One is here. Two is there.'}),
    '{"article": ',
    json.dumps({'document': ['Three came. Four left.', 'Five.']}),
    json.dumps({'article': '  '}),
  ]
  path.write_text('\n'.join(lines) + '\n')
  done = lead(path, '-n', '1')
  rows = [json.loads(line) for line in done.stdout.splitlines()]
  assert done.exit_code == 1
  assert [row['line'] for row in rows] == [1, 2, 3, 4]
  assert rows[0] == {
    'line': 1,
    'id': 'a',
    'numbers': [1],
    'summary': ['One is here.'],
  }
  assert 'not JSON' in rows[1]['error']
  assert rows[2]['summary'] == ['Three came.']
  assert 'has no text' in rows[3]['error']
  path.write_text(lines[0] + '\n')
  whole = lead(path, '--json')
  assert whole.exit_code == 0
  assert json.loads(whole.stdout)['sentences'][0]['start'] == 0


def test_demo_prints_the_summary_alone_on_standard_output(bundle, monkeypatch):
  monkeypatch.setattr(_models, 'default_folder', lambda: bundle)
  done = invoke('demo')
  assert done.exit_code == 0
  assert done.stdout.strip() == summarize(sample_article()).text
  assert 'the model that comes with the package' in done.stderr


def test_without_the_default_model(tmp_path, story, monkeypatch):
  monkeypatch.setattr(_models, 'default_folder', lambda: tmp_path)
  for arguments in (['demo'], ['summarize', story]):
    done = invoke(*arguments)
    assert isinstance(done.exception, InputError)
    assert 'this installation has no default model' in str(done.exception)
    assert done.stdout == ''


BAD = {
  'empty': (b'', ': there is no text in it.'),
  'whitespace': (b' \n\t\n ', ': there is no text in it.'),
  'hollow_page': (b'<!doctype html><p></p>', 'no text was found in it.'),
  'binary': (b'\x7fELF\x02\x01\0\0', 'binary file; UTF-8 text is needed'),
  'latin': ('café'.encode('latin-1'), 'not UTF-8 text: byte 0xe9 at offset 3'),
}


@pytest.mark.parametrize('name', BAD)
def test_bad_files_are_one_sentence(tmp_path, name):
  content, message = BAD[name]
  path = tmp_path / 'bad.txt'
  path.write_bytes(content)
  for done in (lead(path), lead('-', input=content)):
    assert isinstance(done.exception, InputError)
    assert message in str(done.exception)
    assert '\n' not in str(done.exception)
    assert "'article'" not in str(done.exception)


ODD = {
  'one_word': 'Harbour',
  'no_punctuation': 'rain fell on the harbour all day and nobody came',
  'another_language': 'Im Hafen regnete es. Die Schiffe blieben. Wer kam?',
  'no_spaces': '港では一日中雨が降った。船は動かなかった。誰も来なかった。',
  'one_line_of_a_megabyte': 'rain fell on the harbour and ' * 36_000,
  'one_word_of_a_megabyte': 'a' * 1_000_000,
  'two_thousand_sentences': 'It rained on day one of the year. ' * 2_000,
}


@pytest.mark.parametrize('name', ODD)
def test_odd_texts_have_summaries(tmp_path, bundle, name):
  path = tmp_path / 'odd.txt'
  path.write_text(ODD[name], encoding='utf-8')
  done = invoke('summarize', path, '--model', bundle)
  assert done.exit_code == 0
  assert done.stdout.strip()
  for line in done.stdout.splitlines():
    assert line in ODD[name]
  if name == 'one_line_of_a_megabyte':
    assert '1 of 1 sentences were read only in part' in done.stderr


def test_missing_files_and_models(tmp_path, story, bundle):
  missing = lead(tmp_path / 'none.txt')
  assert 'none.txt does not exist' in str(missing.exception)
  lines = lead(tmp_path / 'none.jsonl')
  assert isinstance(lines.exception, InputError)
  absent = invoke('summarize', story, '--model', tmp_path / 'none')
  assert 'none is neither the folder of a model' in str(absent.exception)
  (tmp_path / 'hollow').mkdir()
  hollow = invoke('summarize', story, '--model', tmp_path / 'hollow')
  assert 'hollow is not the folder of a model' in str(hollow.exception)


def refuse(*_, **__):
  raise PermissionError(errno.EACCES, 'Permission denied')


def test_files_that_may_not_be_read(tmp_path, story, monkeypatch):
  """Root, who runs some tests, may read everything: so this is told to us."""
  monkeypatch.setattr(Path, 'open', refuse)
  assert 'story.txt: Permission denied' in str(lead(story).exception)
  monkeypatch.setattr(Path, 'iterdir', refuse)
  assert 'cannot be read: Permission' in str(lead(tmp_path).exception)


def test_a_model_that_may_not_be_read(tmp_path, story, monkeypatch):
  folder = tiny_bundle(tmp_path / 'secret')
  monkeypatch.setattr(_files, 'load_file', refuse)
  done = invoke('summarize', story, '--model', folder)
  assert isinstance(done.exception, InputError)
  assert 'model.safetensors is damaged or not' in str(done.exception)
  monkeypatch.setattr(Path, 'read_text', refuse)
  done = invoke('summarize', story, '--model', folder)
  assert isinstance(done.exception, InputError)
  assert 'config.json is not readable JSON: [Errno 13]' in str(done.exception)


def test_a_damaged_model(tmp_path, story):
  folder = tiny_bundle(tmp_path / 'damaged')
  (folder / 'model.safetensors').write_bytes(b'not weights')
  done = invoke('summarize', story, '--model', folder)
  assert isinstance(done.exception, InputError)
  assert 'damaged or not a safetensors file' in str(done.exception)
  (folder / 'config.json').write_bytes(b'\xff\xfe')
  done = invoke('summarize', story, '--model', folder)
  assert 'is not readable JSON' in str(done.exception)


def test_mistakes_are_exit_code_2_without_a_traceback(tmp_path):
  done = subprocess.run(
    [
      *(sys.executable, '-m', 'stepwise.cli.main', 'summarize'),
      *(tmp_path / 'none.txt', '--model', 'lead'),
    ],
    capture_output=True,
    text=True,
  )
  assert done.returncode == 2
  assert done.stdout == ''
  assert done.stderr == f'stepwise: {tmp_path / "none.txt"} does not exist.\n'


def test_summarising_loads_no_training_library(tmp_path, story, bundle):
  """They would cost a second, and are not needed."""
  code = (
    'import sys; from stepwise.cli.main import app; '
    f'app(["summarize", {story!r}, "--model", {str(bundle)!r}],'
    ' standalone_mode=False); '
    'print(*{name.partition(".")[0] for name in sys.modules})'
  )
  environment = {**os.environ, 'STEPWISE_CACHE': str(tmp_path / 'cache')}
  environment.pop('JAX_COMPILATION_CACHE_DIR', None)
  done = subprocess.run(
    [sys.executable, '-c', code],
    capture_output=True,
    text=True,
    check=True,
    env=environment,
    cwd=Path(stepwise.__file__).parents[1],
  )
  loaded = set(done.stdout.split('\n')[-2].split())
  heavy = {'optax', 'orbax', 'grain', 'scipy', 'rouge_score', 'gin', 'nltk'}
  assert not loaded & (heavy | {'sacrebleu', 'tensorflow', 'matplotlib'})
  # What was compiled is there for the next run.
  assert list((tmp_path / 'cache').glob('*.program'))


@pytest.fixture
def jax_cache():
  names = (
    'jax_compilation_cache_dir',
    'jax_persistent_cache_min_compile_time_secs',
    'jax_persistent_cache_min_entry_size_bytes',
  )
  before = {name: getattr(jax.config, name) for name in names}
  jax.config.update('jax_compilation_cache_dir', None)
  yield
  for name, value in before.items():
    jax.config.update(name, value)


def test_the_cache_is_where_users_expect_it(tmp_path, monkeypatch, jax_cache):
  use = _runtime.use_compilation_cache
  assert use() is None  # It is off.
  monkeypatch.delenv('STEPWISE_CACHE')
  monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
  assert use() == tmp_path / 'stepwise' / 'xla'
  assert jax.config.jax_compilation_cache_dir == str(use())
  # A cache that is set up already is left alone.
  monkeypatch.setenv('STEPWISE_CACHE', str(tmp_path / 'other'))
  assert use() == tmp_path / 'stepwise' / 'xla'
  jax.config.update('jax_compilation_cache_dir', None)
  assert use() == tmp_path / 'other'


def test_a_cache_that_cannot_be_written_is_none(
  tmp_path, monkeypatch, jax_cache
):
  (tmp_path / 'file').touch()
  monkeypatch.setenv('STEPWISE_CACHE', str(tmp_path / 'file' / 'below'))
  assert _runtime.use_compilation_cache() is None
  assert jax.config.jax_compilation_cache_dir is None
