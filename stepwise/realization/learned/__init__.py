"""The learned realizer, in JAX: search, numerals, bundles."""

from stepwise.realization.learned._bundle import load_realizer, save_realizer
from stepwise.realization.learned._config import PAD, SearchConfig
from stepwise.realization.learned._numerals import (
  Numerals,
  NumeralTrie,
  TokenClasses,
)
from stepwise.realization.learned._realizer import (
  PACKAGED,
  LearnedRealizer,
  open_realizer,
  packaged_realizer,
)
from stepwise.realization.learned._search import (
  SearchResult,
  check_texts,
  search_texts,
)

__all__ = [
  'PACKAGED',
  'PAD',
  'LearnedRealizer',
  'NumeralTrie',
  'Numerals',
  'SearchConfig',
  'SearchResult',
  'TokenClasses',
  'check_texts',
  'load_realizer',
  'open_realizer',
  'packaged_realizer',
  'save_realizer',
  'search_texts',
]
