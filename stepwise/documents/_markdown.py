"""Markdown to blocks, without its marks."""

import re
from typing import Any

from stepwise.documents._document import Kind
from stepwise.documents._structure import Block

_FRONT_MATTER = re.compile(
  r'\A---\s*\n.*?\n(?:---|\.\.\.)\s*(?:\n|\Z)', re.DOTALL
)
_TAG = re.compile(r'<[^>]*>')


def markdown_blocks(text: str) -> list[Block]:
  """Paragraphs, headings, items, quotations, rows and code, in order."""
  from markdown_it import MarkdownIt

  parser = MarkdownIt('commonmark').enable('table')
  blocks: list[Block] = []
  inside: list[str] = []
  for token in parser.parse(_FRONT_MATTER.sub('', text, count=1)):
    if token.type in ('fence', 'code_block'):
      blocks.append(Block(token.content.rstrip('\n'), 'code'))
    elif token.type == 'html_block':
      _add(blocks, _TAG.sub('', token.content).strip(), None)
    elif token.type == 'tr_open':
      blocks.append(Block('', 'row'))
    elif token.type == 'inline':
      _add_inline(blocks, token, inside)
    if token.nesting > 0:
      inside.append(token.type.removesuffix('_open'))
    elif token.nesting < 0:
      inside.pop()
  return [block for block in blocks if block.text.strip()]


def _add_inline(blocks: list[Block], token: Any, inside: list[str]) -> None:
  text = _plain(token.children or [])
  if 'tr' in inside:
    row = blocks[-1].text
    blocks[-1] = Block(f'{row}\t{text}' if row else text, 'row')
  else:
    _add(blocks, text, _kind(inside))


def _add(blocks: list[Block], text: str, kind: Kind | None) -> None:
  if text:
    blocks.append(Block(text, kind))


def _kind(inside: list[str]) -> Kind | None:
  if 'heading' in inside:
    return 'heading'
  if 'blockquote' in inside:
    return 'quotation'
  return 'item' if 'list_item' in inside else None


def _plain(tokens: list[Any]) -> str:
  """Words of a paragraph; pictures and tags are left out."""
  parts = []
  for token in tokens:
    if token.type in ('text', 'code_inline'):
      parts.append(token.content)
    elif token.type in ('softbreak', 'hardbreak'):
      parts.append('\n')
  return ''.join(parts).strip()
