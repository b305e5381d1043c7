"""Extractors by name: every number that is measured names the one it used."""

from collections.abc import Callable, Sequence

from stepwise._errors import InputError
from stepwise.extraction._lookup import Extraction, lookup_relations
from stepwise.extraction._mentions import AnnotatedSentence
from stepwise.rotowire import Game

# Finds the relations that sentences state, from left to right.
Extractor = Callable[[Sequence[AnnotatedSentence], Game], list[Extraction]]
EXTRACTORS = ('lookup', 'conv', 'ensemble')


def find_extractor(name: str) -> Extractor:
  """`lookup`, the rules, or a learned one, for which JAX is loaded.

  `conv` is one convolutional model, as in the paper; `ensemble` has
  convolutional and LSTM models, as the metrics of the field.
  """
  if name == 'lookup':
    return lookup_relations
  if name not in EXTRACTORS:
    raise InputError(
      f'extractor is {name!r}; known ones are {sorted(EXTRACTORS)}.'
    )
  from stepwise.extraction.learned import bundled_extractor

  return bundled_extractor(name)
