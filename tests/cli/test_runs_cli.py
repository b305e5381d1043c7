"""`stepwise runs` and `stepwise gin`: what was written, and where files are."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from stepwise._errors import InputError
from stepwise.cli.main import app
from stepwise.training import read_history


def invoke(*arguments):
  return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def run(tmp_path):
  config = {
    'model': {'name': 'hibert_tiny'},
    'steps': 8,
    'checkpoints': {'best_metric': 'validation/loss', 'best_mode': 'min'},
  }
  (tmp_path / 'config.json').write_text(json.dumps(config))
  rows = [
    *({'step': s, 'train/loss': 9.0 - s} for s in (1, 2, 3, 4)),
    {'step': 4, 'validation/loss': 5.25},
  ]
  text = ''.join(json.dumps(row) + '\n' for row in rows)
  (tmp_path / 'metrics.jsonl').write_text(text)
  (tmp_path / 'checkpoints').mkdir()
  scores = {'2': 5.5, '4': 5.25}
  (tmp_path / 'checkpoints' / 'scores.json').write_text(json.dumps(scores))
  return tmp_path


def test_a_run_is_summed_up(run):
  result = invoke('runs', run, '--picture', run / 'curves.svg')
  assert result.exit_code == 0, result.output
  assert 'hibert_tiny: step 4 of 8' in result.stdout
  assert 'best checkpoint: step 4, validation/loss 5.25' in result.stdout
  assert '█▆▃▁' in result.stdout
  assert 'train/loss' in (run / 'curves.svg').read_text()


def test_a_run_has_a_page(run):
  page = run / 'run.html'
  result = invoke('runs', run, '--html', page)
  assert result.exit_code == 0, result.output
  text = page.read_text()
  # Losses of training and validation share a chart.
  assert text.count('<figure>') == 1
  assert text.count('<polyline') == 2
  assert 'Best checkpoint: step 4, validation/loss 5.25.' in text


def test_curves_are_by_metric(run):
  history = read_history(run)
  assert history.curves['train/loss'] == [(1, 8), (2, 7), (3, 6), (4, 5)]
  assert history.best == (4, 5.25)


def test_a_folder_that_is_no_run_is_named(tmp_path):
  with pytest.raises(InputError, match=r'is not a run: it has no config\.json'):
    read_history(tmp_path)


def test_run_files_are_found():
  result = invoke('gin')
  folder = Path(result.stdout.strip())
  assert (folder / 'cnn_dailymail' / 'stepwise_etcsum.gin').is_file()
  assert (folder.parent / 'requirements-t5x.txt').is_file()
