"""`stepwise evaluate` on files and built-in systems."""

import json

import pytest
from typer.testing import CliRunner

from stepwise._errors import InputError
from stepwise.cli.main import app

ROWS = [
  {
    'article': [
      f'Team {i} won.',
      'Fans cheered.',
      f'Rain hit town {i}.',
      'End.',
    ],
    'highlights': [f'Team {i} won.', f'Rain hit town {i}.'],
  }
  for i in range(6)
]


@pytest.fixture
def references(tmp_path):
  path = tmp_path / 'valid.jsonl'
  path.write_text(''.join(f'{json.dumps(row)}\n' for row in ROWS))
  return path


def run(*arguments):
  arguments = [*map(str, arguments), '--processes', '1']
  return CliRunner().invoke(app, ['evaluate', *arguments])


def scores(path):
  report = json.loads(path.read_text())
  return {
    system['name']: system['rouge']['rouge1']['f1']['mean']
    for system in report['systems']
  }


def test_built_in_systems_in_one_command(references, tmp_path):
  out = tmp_path / 'report.json'
  result = run('lead:1', references, 'lead:4', 'oracle', '--json', out)
  assert result.exit_code == 0, result.output
  assert 'rouge-1.5.5 F1 on 6 documents' in result.stdout
  # lead:1 is 3 of 7 words, precision 1; the oracle is the summary itself.
  assert scores(out)['lead:1'] == pytest.approx(60)
  assert scores(out)['oracle'] == pytest.approx(100)
  assert '100.00 (100.00 to 100.00)' in result.stdout
  assert 'lead:1 - oracle' in result.stdout
  assert str(tmp_path) not in out.read_text()


def test_a_short_oracle_sees_less(references, tmp_path):
  out = tmp_path / 'report.json'
  # "Team 0 won." and "Fans cheered." are seven word pieces.
  run('oracle:7', references, 'lead:1', '--json', out)
  assert scores(out)['oracle:7'] == scores(out)['lead:1']


def test_files_of_predictions(references, tmp_path):
  lines, text = tmp_path / 'a.jsonl', tmp_path / 'b.txt'
  lines.write_text(
    ''.join(f'{json.dumps({"summary": r["highlights"]})}\n' for r in ROWS)
  )
  text.write_text('Team 0 won.\n' + '\n' * 5)
  out = tmp_path / 'report.json'
  result = run(lines, references, text, '--json', out)
  assert result.exit_code == 0, result.output
  assert scores(out)[str(lines)] == pytest.approx(100)
  assert scores(out)[str(text)] == pytest.approx(60 / 6)


def test_references_without_articles(tmp_path):
  references, predictions = tmp_path / 'r.jsonl', tmp_path / 'p.txt'
  references.write_text('{"summary": "It rained."}\n')
  predictions.write_text('It rained.\n')
  result = run(predictions, references)
  assert result.exit_code == 0, result.output
  assert '100.00' in result.stdout
  refused = run('lead:3', references)
  assert isinstance(refused.exception, InputError)
  assert 'the references have none' in str(refused.exception)


def test_samples_are_drawn_alike_for_all_systems(references, tmp_path):
  predictions = tmp_path / 'p.jsonl'
  predictions.write_text(
    ''.join(f'{json.dumps({"prediction": r["article"][:1]})}\n' for r in ROWS)
  )
  out = tmp_path / 'report.json'
  arguments = ('lead:1', references, predictions, '--sample', 4, '--seed', 3)
  assert run(*arguments, '--json', out).exit_code == 0
  report = json.loads(out.read_text())
  assert (report['documents'], report['seed']) == (4, 3)
  assert scores(out)['lead:1'] == scores(out)[str(predictions)]
  assert report['command'] == 'stepwise evaluate lead:1 valid.jsonl p.jsonl'


def test_page_and_plot(references, tmp_path):
  page, plot = tmp_path / 'report.html', tmp_path / 'lengths.png'
  result = run('lead:3', references, '--html', page, '--plot', plot)
  assert result.exit_code == 0, result.output
  assert 'lead:3' in page.read_text()
  assert plot.read_bytes().startswith(b'\x89PNG')


def test_unicode_words_count_when_asked_for(tmp_path):
  references = tmp_path / 'r.jsonl'
  row = {'article': ['Весна пришла.', 'Зима.'], 'highlights': ['Весна']}
  references.write_text(f'{json.dumps(row)}\n')
  out = tmp_path / 'report.json'
  run('oracle', references, '--json', out)
  assert scores(out) == {'oracle': 0}
  run('oracle', references, '--json', out, '--unicode')
  assert scores(out) == {'oracle': pytest.approx(100 * 2 / 3, abs=1e-3)}


@pytest.mark.parametrize(
  ('arguments', 'message'),
  [
    (['p.txt', 'valid.jsonl'], 'has 2 predictions but the references are 6'),
    (['nothing', 'valid.jsonl'], 'neither a file of predictions nor one of'),
    (['lead:0', 'valid.jsonl'], 'neither a file of predictions nor one of'),
    (['lead:3', 'none.jsonl'], 'no such file'),
    (['lead:3', 'empty.txt'], '0 references'),
    (['lead:3', 'valid.jsonl', '--sample', '7'], '--sample is 7 but there'),
    (['lead:3', 'valid.jsonl', '--json', 'no/x.json'], 'no such folder'),
    (['lead:3', 'valid.jsonl', 'lead:3'], 'must all be different'),
  ],
)
def test_mistakes_are_one_sentence(
  references, tmp_path, monkeypatch, arguments, message
):
  monkeypatch.chdir(tmp_path)
  (tmp_path / 'p.txt').write_text('one\ntwo\n')
  (tmp_path / 'empty.txt').write_text('')
  result = run(*arguments)
  assert isinstance(result.exception, InputError)
  assert message in str(result.exception)
  assert '\n' not in str(result.exception)
