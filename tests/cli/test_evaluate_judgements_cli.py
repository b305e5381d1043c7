"""`stepwise evaluate-judgements` on a file of answers."""

import json

from typer.testing import CliRunner

from stepwise.cli.main import app


def test_scores_and_significant_pairs(tmp_path):
  path, out = tmp_path / 'answers.csv', tmp_path / 'scores.json'
  rows = [f'{item},x,y,{"y" if item == 0 else "x"}' for item in range(10)]
  path.write_text('\n'.join(['item,system_a,system_b,better', *rows]))
  arguments = ['evaluate-judgements', str(path), '--save-json', str(out)]
  result = CliRunner().invoke(app, arguments)
  assert result.exit_code == 0, result.output
  assert '+0.80' in result.stdout and '-0.80' in result.stdout
  assert 'x - y: +1.60, p = ' in result.stdout
  assert json.loads(out.read_text())['all']['scores'] == {'x': 0.8, 'y': -0.8}


def test_no_pair_differs(tmp_path):
  path = tmp_path / 'answers.csv'
  path.write_text('item,system_a,system_b,better\n1,x,y,tie\n')
  result = CliRunner().invoke(app, ['evaluate-judgements', str(path)])
  assert result.exit_code == 0, result.output
  assert 'none' in result.stdout
