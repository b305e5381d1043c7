"""What people have in, documents out: units of text, each with a kind.

Pure Python; libraries for files of particular kinds are imported when such a
file is read.
"""

from stepwise.documents._document import PROSE, Document, Kind
from stepwise.documents._fetch import fetch_document, is_address
from stepwise.documents._formats import (
  ARTICLE_KEYS,
  SUMMARY_KEYS,
  find_format,
  is_known,
)
from stepwise.documents._kinds import says_something
from stepwise.documents._languages import (
  check_language,
  detect_language,
  language_name,
)
from stepwise.documents._readers import (
  BadLine,
  ReadOptions,
  make_document,
  parse_file,
  parse_item,
  read_documents,
  summary_sentences,
)
from stepwise.documents._sources import Item, has_many, read_items
from stepwise.documents._splitter import split_sentences
from stepwise.documents._structure import Split, Splitter
from stepwise.documents._words import count_words

__all__ = [
  'ARTICLE_KEYS',
  'PROSE',
  'SUMMARY_KEYS',
  'BadLine',
  'Document',
  'Item',
  'Kind',
  'ReadOptions',
  'Split',
  'Splitter',
  'check_language',
  'count_words',
  'detect_language',
  'fetch_document',
  'find_format',
  'has_many',
  'is_address',
  'is_known',
  'language_name',
  'make_document',
  'parse_file',
  'parse_item',
  'read_documents',
  'read_items',
  'says_something',
  'split_sentences',
  'summary_sentences',
]
