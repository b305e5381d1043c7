"""How much a summary repeats itself."""

from collections.abc import Sequence

from stepwise._rouge import DEFAULT_METRIC, find_metric


def repeated_ngrams(
  summary: Sequence[str], n: int = 3, metric: str = DEFAULT_METRIC
) -> float:
  """Share of the n-grams inside sentences that occurred before; 0 if none."""
  tokenize = find_metric(metric).tokenize
  ngrams = [
    tuple(tokens[start : start + n])
    for tokens in map(tokenize, summary)
    for start in range(len(tokens) - n + 1)
  ]
  return 1 - len(set(ngrams)) / len(ngrams) if ngrams else 0.0
