"""Lengths, repetition and positions of summaries; the plot."""

import pytest

from stepwise._errors import InputError
from stepwise.evaluation import (
  count_words,
  length_statistics,
  plot_lengths,
)

SUMMARIES = [['one two', 'three'], [], ['word ' * 500]]


def test_words_are_counted_over_sentences():
  assert count_words(SUMMARIES).tolist() == [3, 0, 500]


def test_histogram_holds_every_summary():
  statistics = length_statistics(count_words([['a b'], ['a'] * 4, *SUMMARIES]))
  # 2, 4, 3 and 0 words; 500 falls into the last bin.
  assert statistics.counts[0] == 4
  assert statistics.counts[-1] == 1
  assert sum(statistics.counts) == 5
  assert statistics.mean == pytest.approx((2 + 4 + 3 + 0 + 500) / 5)
  assert len(statistics.edges) == len(statistics.counts) + 1


def test_density_integrates_to_one():
  statistics = length_statistics(count_words(SUMMARIES))
  width = statistics.edges[1] - statistics.edges[0]
  assert sum(statistics.density) * width == pytest.approx(1)


def test_standard_deviation():
  assert length_statistics(count_words([['a'], ['a b c']])).std == 1


def test_plot_is_written(tmp_path):
  lengths = {'Human': length_statistics(count_words(SUMMARIES))}
  plot_lengths(lengths, tmp_path / 'lengths.png')
  assert (tmp_path / 'lengths.png').read_bytes().startswith(b'\x89PNG')
  assert [path.name for path in tmp_path.iterdir()] == ['lengths.png']


def test_unknown_plot_format_is_refused(tmp_path):
  lengths = {'Human': length_statistics(count_words(SUMMARIES))}
  with pytest.raises(InputError, match=r'needs a suffix such as \.png'):
    plot_lengths(lengths, tmp_path / 'lengths.doc')
