"""Documents in, records out: pure Python and numpy, no JAX, no TensorFlow."""

from stepwise.data._documents import Document
from stepwise.data._splitter import split_sentences

__all__ = [
  'Document',
  'split_sentences',
]
