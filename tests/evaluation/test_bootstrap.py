"""Intervals are reproducible, cover the truth, and respect pairing."""

import numpy as np
import pytest
from scipy import stats

from stepwise._errors import InputError
from stepwise.evaluation import Interval, bootstrap_interval
from stepwise.evaluation import _bootstrap as bootstrap


def test_same_seed_same_interval():
  values = np.random.default_rng(1).random(101)
  assert bootstrap_interval(values, seed=3) == bootstrap_interval(
    values, seed=3
  )
  assert bootstrap_interval(values, seed=3) != bootstrap_interval(
    values, seed=4
  )


def test_interval_agrees_with_the_normal_approximation():
  values = np.random.default_rng(2).normal(5, 2, 997)
  interval = bootstrap_interval(values)
  error = 1.96 * values.std() / np.sqrt(len(values))
  assert interval.mean == pytest.approx(values.mean())
  assert interval.low == pytest.approx(values.mean() - error, abs=0.2 * error)
  assert interval.high == pytest.approx(values.mean() + error, abs=0.2 * error)


def test_interval_covers_the_true_mean_about_95_times_in_100():
  generator = np.random.default_rng(3)
  intervals = [
    bootstrap_interval(generator.normal(size=53), seed=seed)
    for seed in range(200)
  ]
  covered = sum(not interval.excludes_zero for interval in intervals)
  low, high = stats.binom.interval(0.9999, 200, 0.94)
  assert low <= covered <= high


def test_means_of_resamples_are_about_the_mean():
  values = np.random.default_rng(6).random(307)
  interval = bootstrap_interval(values)
  error = values.std() / np.sqrt(len(values) * bootstrap.SAMPLES)
  assert interval.resampled != interval.mean
  assert abs(interval.resampled - interval.mean) < 5 * error


def test_blocks_of_draws_are_all_used(monkeypatch):
  values = np.random.default_rng(4).random((11, 2))
  monkeypatch.setattr(bootstrap, '_DRAWS_AT_ONCE', 30)
  means = bootstrap.resampled_means(values, samples=7, seed=0)
  assert means.shape == (7, 2)
  assert len(np.unique(means[:, 0])) > 1
  assert (means >= values.min(0)[None]).all()
  assert (means <= values.max(0)[None]).all()


def test_pairing_sees_a_small_but_constant_difference():
  values = np.random.default_rng(5).random(211)
  difference = bootstrap_interval(values + 0.01 - values)
  assert difference.mean == pytest.approx(0.01)
  assert difference.excludes_zero
  assert not bootstrap_interval(values - values[::-1]).excludes_zero


def test_one_document_is_its_own_interval():
  interval = bootstrap_interval(np.array([0.25]))
  assert interval == Interval(0.25, 0.25, 0.25, 0.25)


def test_no_documents_are_refused():
  with pytest.raises(InputError, match='0 documents but a mean needs'):
    bootstrap_interval(np.array([], float))
