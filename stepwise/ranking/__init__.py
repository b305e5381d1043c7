"""Units ranked without a model: by place, or by what they share. No JAX."""

from stepwise.ranking._choose import fit_words, take_best
from stepwise.ranking._rank import METHODS, rank

__all__ = ['METHODS', 'fit_words', 'rank', 'take_best']
