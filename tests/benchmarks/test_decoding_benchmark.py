"""The benchmark's own search agrees with ours; its script runs."""

import json

import jax.numpy as jnp
import numpy as np
import pytest

from benchmarks import decoding
from benchmarks._decoding_search import LengthMix, Programs, search_one
from stepwise.decoding import beam_search
from stepwise.inference import no_repeats
from stepwise.models import BEG, NEWS_DECODING, find_config
from tests.layers.parameters import quick_jit

UNITS = 7


def test_the_search_on_the_host_is_ours():
  """Random log-probabilities that depend on the last unit chosen."""
  rng = np.random.default_rng(0)
  tables = rng.normal(size=(5, 1 + UNITS, UNITS)).astype(np.float32) * 2
  tables[:, :, 0] += 2  # Some plans stop early.

  def log_probs(table, plan):
    logits = np.delete(table[1 + (plan[-1] if plan else -1)], BEG)
    told = logits - np.log(np.exp(logits).sum())
    return np.insert(told, BEG, -np.inf)

  def score(memory, plan):
    length = (plan >= 0).sum(axis=1)
    last = jnp.take_along_axis(plan, jnp.maximum(length - 1, 0)[:, None], 1)
    row = 1 + jnp.where(length[:, None] > 0, last, -1)
    return jnp.take_along_axis(memory, row[..., None], axis=1)[:, 0]

  @quick_jit
  def ours(tables):
    valid = jnp.ones((5, UNITS), bool)
    return beam_search(
      score, tables, valid, NEWS_DECODING, constraints=no_repeats(valid)
    ).plans[:, 0]

  theirs = [
    search_one(lambda plans, t=t: np.stack([log_probs(t, p) for p in plans]))
    for t in tables
  ]
  assert ours(tables).tolist() == theirs
  assert len({sum(u >= 0 for u in plan) for plan in theirs}) > 1


def test_lengths_have_the_mean_they_should():
  lengths = LengthMix().lengths(400)
  assert np.mean(lengths) == pytest.approx(800, rel=0.02)
  assert 2000 < max(lengths) < 4000


def test_programs_count_their_compilations():
  programs = Programs(lambda x: x + 1)
  programs.prepare(np.zeros(3))
  assert programs.compilations == 1
  assert programs(np.ones(3)).tolist() == [2, 2, 2]
  assert programs.compilations == 1
  programs(np.ones(5))
  assert programs.compilations == 2


def test_operations_grow_with_the_layers():
  one = decoding.encoder_flops(find_config('etcsum_base'))
  # 8704 tokens, 12 layers, twice 7.1 million weights: projections and MLP.
  assert one > 8704 * 12 * 2 * 7.1e6
  assert one < 1.5 * 8704 * 12 * 2 * 8.3e6


@pytest.mark.slow
def test_the_script_writes_its_results(tmp_path, capsys):
  decoding.main(['--quick', '--out', str(tmp_path)])
  content = json.loads((tmp_path / 'decoding.json').read_text())
  assert {'device', 'versions', 'commit', 'date', 'command'} <= content.keys()
  assert len(content['host']) == 6
  assert len(content['targets']) == 6
  for row in content['host']:
    assert row['recompilations'] == 0
    assert row['same_plans'] == row['documents']
  assert 'recompilations' in capsys.readouterr().out
