"""Word files to blocks; a `.docx` file is a zip archive of XML."""

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

from stepwise._errors import InputError
from stepwise._files import MAX_BYTES, check_size
from stepwise.documents._document import Kind
from stepwise.documents._structure import Block

_NAME = '{http://schemas.openxmlformats.org/wordprocessingml/2006/main}'
_DAMAGE = (zipfile.BadZipFile, EOFError, zlib.error)
_STYLES: tuple[tuple[str, Kind], ...] = (
  (r'heading|title|überschrift|titel|titre|título|titolo', 'heading'),
  (r'caption|beschriftung|légende', 'caption'),
  (r'list|bullet|aufzählung', 'item'),
  (r'quote|zitat|citation', 'quotation'),
  (r'code|source|preformatted', 'code'),
  (r'signature|unterschrift', 'signature'),
)


def docx_blocks(data: bytes) -> list[Block]:
  """Paragraphs, headings, items and rows of tables, in order."""
  try:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
      body = _member(archive, 'word/document.xml')
      styles = _style_names(archive)
  except (*_DAMAGE, KeyError, NotImplementedError):
    raise InputError('not a readable Word file.') from None
  root = _parse(body).find(f'{_NAME}body')
  return [] if root is None else list(_blocks(root, styles))


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
  with archive.open(name) as stream:
    data = stream.read(MAX_BYTES + 1)
  check_size(name, len(data))
  return data


def _parse(data: bytes) -> Any:
  # Word writes no document types, and entities could grow without bound.
  if b'<!DOCTYPE' in data:
    raise InputError('not a readable Word file: it declares a document type.')
  try:
    return ElementTree.fromstring(data)
  except ElementTree.ParseError:
    raise InputError('not a readable Word file.') from None


def _style_names(archive: zipfile.ZipFile) -> dict[str, str]:
  """Names of styles, which unlike their ids are in English."""
  if 'word/styles.xml' not in archive.namelist():
    return {}
  found = {}
  for style in _parse(_member(archive, 'word/styles.xml')).iter(
    f'{_NAME}style'
  ):
    name = style.find(f'{_NAME}name')
    if name is not None:
      found[style.get(f'{_NAME}styleId')] = name.get(f'{_NAME}val') or ''
  return found


def _blocks(parent: Any, styles: dict[str, str]) -> Iterator[Block]:
  for child in parent:
    if child.tag == f'{_NAME}p':
      text = _text(child)
      if text.strip():
        yield Block(text.strip(), _kind(child, styles))
    elif child.tag == f'{_NAME}tbl':
      for row in child.iter(f'{_NAME}tr'):
        cells = (_cell(cell) for cell in row.findall(f'{_NAME}tc'))
        yield Block('\t'.join(cells), 'row')
    elif child.tag != f'{_NAME}sectPr':
      yield from _blocks(child, styles)


def _cell(cell: Any) -> str:
  return ' '.join(' '.join(map(_text, cell.iter(f'{_NAME}p'))).split())


def _text(paragraph: Any) -> str:
  parts = []
  for node in paragraph.iter():
    if node.tag == f'{_NAME}t':
      parts.append(node.text or '')
    elif node.tag in (f'{_NAME}tab', f'{_NAME}br', f'{_NAME}cr'):
      parts.append(' ')
  return ''.join(parts)


def _kind(paragraph: Any, styles: dict[str, str]) -> Kind | None:
  style = paragraph.find(f'{_NAME}pPr/{_NAME}pStyle')
  if style is not None:
    identifier = style.get(f'{_NAME}val') or ''
    name = f'{identifier} {styles.get(identifier, "")}'
    for pattern, kind in _STYLES:
      if re.search(pattern, name, re.IGNORECASE):
        return kind
  if paragraph.find(f'{_NAME}pPr/{_NAME}numPr') is not None:
    return 'item'
  return None
