"""The benchmark `limit`, with a tiny model instead of the default one."""

import json

import pytest

from benchmarks import _limit_work, limit


@pytest.fixture
def tiny(monkeypatch):
  monkeypatch.setattr(limit, 'DEFAULT', 'hibert_tiny')
  monkeypatch.setattr(limit, '_TOKENS', 64)
  monkeypatch.setattr(limit, 'PRODUCTS', {'float32': limit.PRODUCTS['float32']})
  monkeypatch.setitem(_limit_work.FROZEN, 'hibert_tiny', ())
  sizes = {'ROWS': 2, 'LENGTH': 32, 'UNITS': 8, 'STEPS': 2}
  for name, size in sizes.items():
    monkeypatch.setattr(_limit_work, name, size)


@pytest.mark.slow
def test_shares_are_of_the_fastest_product(tiny, tmp_path):
  limit.main(['--quick', '--out', str(tmp_path)])
  content = json.loads((tmp_path / 'limit.json').read_text())
  assert set(content['work']) == {'update, float32', 'inference, float32'}
  best = content['rates']['float32']['x w']['rate']
  for work in content['work'].values():
    assert work['gflop'] > 0
    assert work['share'] == pytest.approx(work['rate'] / best)


def test_kinds_of_operations():
  names = {
    'ynn_fusion.3': 'products',
    'dot_general.1': 'products',
    'copy_bitcast_fusion': 'copies and transpositions',
    'wrapped_convert': 'conversions',
    'broadcast_gather_fusion': 'gathers and scatters',
    'multiply_add_fusion.7': 'elementwise',
  }
  assert {name: limit._kind(name) for name in names} == names
