"""ROUGE from shared counts: the exact core of oracle and evaluation."""

from stepwise._rouge._overlap import KINDS, Overlap, measure_overlap
from stepwise._rouge._tokens import TOKENIZERS, tokenize_ascii, tokenize_unicode

__all__ = [
  'KINDS',
  'TOKENIZERS',
  'Overlap',
  'measure_overlap',
  'tokenize_ascii',
  'tokenize_unicode',
]
