"""The curve: what models choose, and what a report says of their scores."""

import json

import pytest

from benchmarks import curve
from stepwise.checkpoints import initial_params, save_bundle
from stepwise.documents import read_documents
from stepwise.models import find_config
from tests.training.runs import write_articles

MEANS = {
  'lead:3': 40.0,
  'small-3.jsonl': 37.0,
  'small-6.jsonl': 39.0,
  'small-12.jsonl': 41.0,
  'large-3.jsonl': 38.0,
  'large-6.jsonl': 42.0,
  'large-twin-2.jsonl': 41.5,
}


def scores(mean):
  return {'mean': mean, 'low': mean - 2.0, 'high': mean + 1.0}


def evaluation():
  """As `stepwise evaluate` writes it, every pair in one direction."""
  paths = {name: name if ':' in name else f'run/{name}' for name in MEANS}
  names = list(MEANS)
  return {
    **dict.fromkeys(('device', 'versions', 'date', 'seed', 'metric'), ''),
    'documents': 5,
    'systems': [
      {
        'name': paths[name],
        'rouge': {kind: {'f1': scores(mean)} for kind in curve.KINDS},
      }
      for name, mean in MEANS.items()
    ],
    'comparisons': [
      {
        'first': paths[first],
        'second': paths[second],
        'difference': {
          kind: scores(MEANS[first] - MEANS[second]) for kind in curve.KINDS
        },
      }
      for place, first in enumerate(names)
      for second in names[place + 1 :]
    ],
  }


@pytest.fixture
def report():
  costs = {
    'small': curve.Cost(2.0),
    'large': curve.Cost(3.0, before=5.0),
    'large-twin': curve.Cost(3.0),
  }
  return curve.make_report(evaluation(), costs)


def compared(rows):
  return [
    (row['first'], row['second'], row['difference']['rouge1']) for row in rows
  ]


def test_points_have_documents_compute_and_gains(report):
  point = next(p for p in report['points'] if p['name'] == 'large-6.jsonl')
  assert (point['line'], point['documents']) == ('large', 6 * curve.BATCH)
  assert point['core_seconds'] == 5.0 + 6 * 3.0
  # The evaluation has Lead minus this: ends change places.
  assert point['over_lead']['rouge1'] == {'mean': 2.0, 'low': 1.0, 'high': 4.0}


def test_equal_documents_are_later_lines_minus_earlier_ones(report):
  assert compared(report['equal_documents']) == [
    (f'large-{size}.jsonl', f'small-{size}.jsonl', ends)
    for size, ends in (
      (3, {'mean': 1.0, 'low': 0.0, 'high': 3.0}),
      (6, {'mean': 3.0, 'low': 2.0, 'high': 5.0}),
    )
  ]


def test_equal_compute_takes_the_nearest_point_with_what_came_before(report):
  pairs = [(r['first'], r['second']) for r in report['equal_compute']]
  # 14 beside 12 and 23 beside 24, not 9 and 18 without pretraining.
  assert pairs == [
    ('large-3.jsonl', 'small-6.jsonl'),
    ('large-6.jsonl', 'small-12.jsonl'),
  ]
  assert report['equal_compute'][0]['core_seconds'] == [14.0, 12.0]


def test_a_twin_is_compared_with_what_it_started_from(report):
  assert compared(report['twins']) == [
    (
      'large-6.jsonl',
      'large-twin-2.jsonl',
      {'mean': 0.5, 'low': -1.5, 'high': 1.5},
    )
  ]


def test_gains_of_a_doubling_are_those_between_the_ends(report):
  small, large = report['per_doubling']
  assert (small['line'], small['doublings']) == ('small', 2.0)
  assert small['rouge1'] == {'mean': 2.0, 'low': 1.5, 'high': 3.0}
  assert (large['doublings'], large['rouge1']['mean']) == (1.0, 4.0)


def test_costs_are_medians_and_pretraining_counts_whole(tmp_path):
  for name, costs in {'run': (9.0, 2.0, 3.0), 'text': (7.0, 5.0)}.items():
    (tmp_path / name).mkdir()
    rows = [
      {'step': 10 * place, 'train/core_seconds': cost}
      for place, cost in enumerate(costs, 1)
    ]
    lines = [json.dumps(row) + '\n' for row in [*rows, {'step': 30}]]
    (tmp_path / name / 'metrics.jsonl').write_text(''.join(lines))
  cost = curve.line_cost([tmp_path / 'run', tmp_path / 'text'])
  assert cost == curve.Cost(3.0, 30 * 6.0)


def test_the_figure_is_drawn(report, tmp_path):
  curve.draw(report, tmp_path / 'curve.png')
  assert (tmp_path / 'curve.png').read_bytes().startswith(b'\x89PNG')


@pytest.mark.parametrize('twin', [False, True])
def test_three_sentences_of_every_document_are_chosen(tmp_path, twin):
  config = find_config('hibert_tiny')
  config = config.twin() if twin else config
  save_bundle(tmp_path / 'bundle', config, initial_params(config))
  articles = write_articles(tmp_path / 'articles.jsonl', 5)
  out = tmp_path / 'out.jsonl'
  curve.main(['choose', str(tmp_path / 'bundle'), str(articles), str(out)])
  lines = [json.loads(line) for line in out.read_text().splitlines()]
  documents = list(read_documents(articles))
  assert [line['id'] for line in lines] == [d.id for d in documents]
  for line, document in zip(lines, documents, strict=True):
    assert len(set(line['units'])) == len(line['units']) <= 3
    chosen = [document.units[unit] for unit in line['units']]
    assert line['summary'] == chosen
