"""`stepwise evaluate` on files and built-in systems."""

import json

import pytest
from typer.testing import CliRunner

from stepwise._errors import InputError
from stepwise.cli.main import app
from stepwise.evaluation import ALL_KINDS, MEASURES, rouge

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
  result = run('lead:1', references, 'lead:4', 'oracle', '--save-json', out)
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
  run('oracle:7', references, 'lead:1', '--save-json', out)
  assert scores(out)['oracle:7'] == scores(out)['lead:1']


def test_files_of_predictions(references, tmp_path):
  lines, text = tmp_path / 'a.jsonl', tmp_path / 'b.txt'
  lines.write_text(
    ''.join(f'{json.dumps({"summary": r["highlights"]})}\n' for r in ROWS)
  )
  text.write_text('Team 0 won.\n' + '\n' * 5)
  out = tmp_path / 'report.json'
  result = run(lines, references, text, '--save-json', out)
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
  assert run(*arguments, '--save-json', out).exit_code == 0
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
  run('oracle', references, '--save-json', out)
  assert scores(out) == {'oracle': 0}
  run('oracle', references, '--save-json', out, '--unicode')
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
    (['lead:3', 'valid.jsonl', '--save-json', 'no/x.json'], 'no such folder'),
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


def test_baselines_by_words(references, tmp_path):
  out = tmp_path / 'report.json'
  # Three words are the first sentence, eight the first, second and last.
  run('lead:3w', references, 'lead:6w', 'lead:1', 'lead:2', '--save-json', out)
  found = scores(out)
  assert found['lead:3w'] == found['lead:1']
  report = json.loads(out.read_text())
  lengths = {s['name']: s['lengths']['mean'] for s in report['systems']}
  assert lengths == {'lead:3w': 3, 'lead:6w': 6, 'lead:1': 3, 'lead:2': 5}


@pytest.mark.parametrize('system', ['lexrank:2', 'textrank:2', 'lexrank:7w'])
def test_graph_rankers(references, tmp_path, system):
  out = tmp_path / 'report.json'
  result = run(system, references, '--save-json', out)
  assert result.exit_code == 0, result.output
  assert 0 < scores(out)[system] <= 100


def test_predictions_find_their_reference_by_id(tmp_path):
  references, predictions = tmp_path / 'r.jsonl', tmp_path / 'p.jsonl'
  rows = [{'id': f'{i}', 'summary': f'Town {i} voted.'} for i in range(4)]
  references.write_text(''.join(f'{json.dumps(row)}\n' for row in rows))
  rows[1] = {'line': 2, 'error': 'no text'}
  predictions.write_text(''.join(f'{json.dumps(r)}\n' for r in rows[::-1]))
  out = tmp_path / 'report.json'
  result = run(predictions, references, '--save-json', out)
  assert result.exit_code == 0, result.output
  assert scores(out)[str(predictions)] == 75
  [system] = json.loads(out.read_text())['systems']
  assert system['errors'] == 1
  assert 'failed on 1 of 4 documents' in ' '.join(result.stdout.split())


def test_several_references(tmp_path):
  references, predictions = tmp_path / 'r.jsonl', tmp_path / 'p.txt'
  row = {'references': [['Rain fell.'], ['It snowed.']]}
  references.write_text(f'{json.dumps(row)}\n')
  predictions.write_text('Rain fell.\n')
  out = tmp_path / 'report.json'
  for several, score in (('average', 50), ('best', 100)):
    run(predictions, references, '--save-json', out, '--several', several)
    assert scores(out)[str(predictions)] == score
    assert json.loads(out.read_text())['several'] == several


def test_the_metric_is_named_and_can_be_chosen(references, tmp_path):
  out = tmp_path / 'report.json'
  for metric in ('rouge-score', 'rouge-1.5.5-unstemmed'):
    result = run('lead:3', references, '--metric', metric, '--save-json', out)
    assert f'{metric} F1 on 6 documents' in result.stdout
    assert json.loads(out.read_text())['metric'] == metric
  refused = run('lead:3', references, '--metric', 'bleu')
  assert "metric is 'bleu' but must be one of" in str(refused.exception)


def test_all_kinds_are_measured_when_asked_for(references, tmp_path):
  out = tmp_path / 'report.json'
  result = run(
    'lead:3', references, 'oracle', '--all-kinds', '--save-json', out
  )
  assert result.exit_code == 0, result.output
  assert 'All kinds of rouge-1.5.5' in result.stdout
  lead, _ = json.loads(out.read_text())['systems']
  assert {*lead['rouge']} == {*ALL_KINDS, 'mean'}
  article, summary = ROWS[0]['article'][:3], ROWS[0]['highlights']
  expected = rouge(article, summary, kinds=['rougeW'])[0]
  found = [lead['rouge']['rougeW'][measure]['mean'] for measure in MEASURES]
  assert found == pytest.approx(100 * expected)
