"""What people have in, documents out: units of text, each with a kind.

Pure Python; libraries for files of particular kinds are imported when such a
file is read.
"""

from stepwise.documents._document import Document
from stepwise.documents._formats import ARTICLE_KEYS, SUMMARY_KEYS, find_format
from stepwise.documents._readers import (
  BadLine,
  Splitter,
  make_document,
  parse_item,
  read_documents,
  summary_sentences,
)
from stepwise.documents._splitter import split_sentences

__all__ = [
  'ARTICLE_KEYS',
  'SUMMARY_KEYS',
  'BadLine',
  'Document',
  'Splitter',
  'find_format',
  'make_document',
  'parse_item',
  'read_documents',
  'split_sentences',
  'summary_sentences',
]
