"""Tables and texts to a planner of them, by the command line alone."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from stepwise.cli.main import app
from stepwise.cli.train import _planner_file
from stepwise.models import find_config
from stepwise.tables import TableForm, report_table

SIZES = {
  'pointer_rotowire': (
    *('encoder.layers=1', 'encoder.embed=16', 'encoder.heads=2'),
    *('encoder.mlp=16', 'plan_layers=1'),
  ),
  'hibert_rotowire_tiny': (),
  'etcsum_rotowire_mini': ('encoder.layers=1',),
}


def invoke(*arguments):
  result = CliRunner().invoke(app, [str(argument) for argument in arguments])
  if result.exception and not isinstance(result.exception, SystemExit):
    raise result.exception
  return result


@pytest.fixture(scope='module')
def pairs(tmp_path_factory):
  """Six tables of shops, each with a report."""
  path = tmp_path_factory.mktemp('pairs') / 'shops.jsonl'
  rng = np.random.default_rng(0)
  lines = []
  for number in range(6):
    rows = [
      {'shop': name, 'sales': int(rng.integers(100, 999))}
      for name in ('Quay', 'Mill', 'Pier')
    ]
    text = report_table(rows, entries=3).text
    lines.append(json.dumps({'id': f't{number}', 'table': rows, 'text': text}))
  path.write_text('\n'.join(lines) + '\n')
  return path


def test_bundles_get_the_schema_that_records_have_beside_them(pairs, tmp_path):
  records = tmp_path / 'records.jsonl'
  assert invoke('data', 'tables', pairs, records).exit_code == 0
  files = _planner_file(find_config('pointer_rotowire'), str(records))
  form = TableForm.from_json(files['schema.json'], 'here')
  assert (form.name, form.columns) == ('shops', {'shop': ['sales']})
  options = json.loads(files['planner.json'])
  assert (options['table'], options['samples']) == ('shops', 16)


# Trained at toy size, but compiled all the same.
@pytest.mark.slow
@pytest.mark.parametrize('config', SIZES)
def test_pairs_to_a_planner(config, pairs, tmp_path):
  records, run = tmp_path / 'records.jsonl', tmp_path / 'run'
  built = invoke('data', 'tables', pairs, records)
  assert built.exit_code == 0, built.output
  assert '6 records, 18 entries' in built.stdout
  sizes = [part for size in SIZES[config] for part in ('--size', size)]
  trained = invoke(
    *('train', records, '--config', config, '--steps', 1, '--batch', 2),
    *('--output', run, '--set', 'MeshConfig.data=1', *sizes),
  )
  assert trained.exit_code == 0, trained.output
  bundle, out = run / 'bundle', tmp_path / 'out.jsonl'
  planned = invoke(
    *('plan', pairs, '--model', bundle, '--greedy', '--lines', out)
  )
  assert planned.exit_code == 0, planned.output
  rows = [json.loads(line) for line in out.read_text().splitlines()]
  assert [row['id'] for row in rows] == [f't{n}' for n in range(6)]
  for row, line in zip(rows, pairs.read_text().splitlines(), strict=True):
    table = {r['shop']: str(r['sales']) for r in json.loads(line)['table']}
    cells = [r for s in row['plan'] for r in s if r[2] == 'sales']
    assert all(table[entity] == value for entity, value, _ in cells)
  other = tmp_path / 'weather.csv'
  other.write_text('station,rain\nKilda,3\nVane,4\n')
  refused = CliRunner().invoke(
    app, ['report', str(other), '--model', str(bundle)]
  )
  assert "schema 'shops'" in str(refused.exception)


def test_what_lacks_its_schema_is_not_trained(pairs, tmp_path):
  records = tmp_path / 'records.jsonl'
  assert invoke('data', 'tables', pairs, records).exit_code == 0
  (tmp_path / 'records.jsonl.schema.json').unlink()
  result = CliRunner().invoke(
    app,
    [
      *('train', str(records), '--config', 'pointer_rotowire'),
      *('--steps', '1', '--batch', '2', '--output', str(tmp_path / 'run')),
    ],
  )
  assert "of schema 'shops'" in str(result.exception)
  assert not (tmp_path / 'run').exists()


def test_bad_pairs_are_told(pairs, tmp_path):
  mixed = tmp_path / 'mixed.jsonl'
  line = json.dumps({'id': 'mute', 'table': [{'shop': 'Quay', 'sales': 3}]})
  mixed.write_text(pairs.read_text() + line + '\n')
  result = CliRunner().invoke(
    app, ['data', 'tables', str(mixed), str(tmp_path / 'r.jsonl')]
  )
  assert result.exit_code == 1
  assert 'bad: mute: it has no text.' in result.stdout
