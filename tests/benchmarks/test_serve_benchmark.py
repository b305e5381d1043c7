"""The benchmark of the server, on a ranker, with a server that listens."""

import json

import pytest

from benchmarks import serve


def test_texts_differ_and_stay_the_same():
  texts = serve.make_texts(20)
  assert texts == serve.make_texts(20)
  assert len(set(texts)) == 20


@pytest.mark.slow
def test_quick(tmp_path):
  serve.main(['--quick', '--out', str(tmp_path)])
  found = json.loads((tmp_path / 'serve.json').read_text())
  assert set(found['clients']) == {'1', '8', '32'}
  for row in found['clients'].values():
    assert 0 < row['p50_seconds'] <= row['p99_seconds']
  most = found['clients']['32']['documents_per_second']
  alone = found['infer']['documents_per_second']
  assert found['ratio']['value'] == pytest.approx(most / alone, abs=1e-3)


@pytest.mark.slow
def test_soak(tmp_path):
  serve.main(['--quick', '--soak', '3', '--out', str(tmp_path)])
  found = json.loads((tmp_path / 'serve_soak.json').read_text())
  assert found['documents'] > 0
  assert min(found['memory']['mebibytes']) > 0
