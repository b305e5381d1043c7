"""ROUGE from shared counts: one exact core for the oracle and the evaluation."""

from stepwise._rouge._lcs import lcs_positions
from stepwise._rouge._overlap import KINDS, Overlap, measure_overlap
from stepwise._rouge._tokens import TOKENIZERS, tokenize_ascii, tokenize_unicode

__all__ = [
  'KINDS',
  'TOKENIZERS',
  'Overlap',
  'lcs_positions',
  'measure_overlap',
  'tokenize_ascii',
  'tokenize_unicode',
]
