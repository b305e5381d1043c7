"""How much a summary repeats itself."""

from collections.abc import Sequence

from stepwise._rouge import TOKENIZERS


def repeated_ngrams(
  summary: Sequence[str], n: int = 3, tokenization: str = 'ascii'
) -> float:
  """Share of the n-grams inside sentences that occurred before; 0 if none."""
  tokenize = TOKENIZERS[tokenization]
  ngrams = [
    tuple(tokens[start : start + n])
    for tokens in map(tokenize, summary)
    for start in range(len(tokens) - n + 1)
  ]
  return 1 - len(set(ngrams)) / len(ngrams) if ngrams else 0.0
