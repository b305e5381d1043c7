"""Web pages to blocks: the article, without what surrounds it."""

from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

from stepwise._errors import InputError
from stepwise._extras import needs
from stepwise.documents._document import Kind
from stepwise.documents._structure import Block

_KINDS: dict[str, Kind | None] = {
  'head': 'heading',
  'p': None,
  'item': 'item',
  'quote': 'quotation',
  'code': 'code',
  'row': 'row',
}


def html_blocks(data: bytes) -> list[Block]:
  """Paragraphs, headings, items, quotations, rows and code, in order."""
  with needs('files', 'a web page'):
    import trafilatura
  found = trafilatura.extract(
    data, output_format='xml', include_comments=False, include_tables=True
  )
  if not found:
    raise InputError('the page has no article: no text was found in it.')
  main = ElementTree.fromstring(found).find('main')
  return list(_blocks(main)) if main is not None else []


def _blocks(element: Any, inside: Kind | None = None) -> Iterator[Block]:
  """Blocks of an element; paragraphs of a quotation or an item are theirs."""
  for child in element:
    kind = _KINDS.get(child.tag) or inside
    if child.tag == 'row':
      cells = (' '.join(_text(cell).split()) for cell in child)
      yield Block('\t'.join(cells), 'row')
    elif child.tag in _KINDS and not _has_blocks(child):
      text = _text(child).strip()
      if text:
        yield Block(text if kind == 'code' else ' '.join(text.split()), kind)
    else:
      yield from _blocks(child, kind)


def _has_blocks(element: Any) -> bool:
  return any(child.tag in {*_KINDS, 'list', 'table'} for child in element)


def _text(element: Any) -> str:
  return ''.join(element.itertext())
