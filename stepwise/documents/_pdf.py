"""PDF files to text: pages joined, running heads and hyphens removed."""

import io
import re
from collections import Counter
from typing import Any

from stepwise._errors import InputError
from stepwise._extras import needs

_HYPHEN = re.compile(r'(?<=[^\W\d_])[-\u00ad\u2010]\n(?=[^\W\d_])')
_PAGE_NUMBER = re.compile(
  r'\W*(?:page |seite |p\. ?)?\d{1,4}(?: ?(?:of|/|von) ?\d+)?\W*', re.I
)
_DIGITS = re.compile(r'\d+')


def pdf_text(data: bytes) -> str:
  """The text of all pages, paragraphs set apart by blank lines."""
  with needs('files', 'a PDF file'):
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError
  try:
    reader = PdfReader(io.BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(''):
      raise InputError('the PDF file is locked with a password.')
    pages = [_page(page) for page in reader.pages]
  except InputError:
    raise
  except (PyPdfError, ValueError, KeyError, RecursionError) as error:
    raise InputError(f'not a readable PDF file: {error}.') from error
  text = '\n'.join(_without_running_heads(pages))
  if not text.strip():
    raise InputError(
      'the PDF file has no text: its pages may be pictures, which are not read.'
    )
  return _paragraphs(_HYPHEN.sub('', text))


def _page(page: Any) -> list[str]:
  return [line.strip() for line in page.extract_text().splitlines()]


def _without_running_heads(pages: list[list[str]]) -> list[str]:
  """Lines at the edge of a page that most pages have, and page numbers."""
  edges: Counter[str] = Counter()
  for page in pages:
    edges.update({_DIGITS.sub('#', line) for line in (page[:2] + page[-2:])})
  lines = []
  for page in pages:
    last = len(page) - 1
    for number, line in enumerate(page):
      at_edge = number < 2 or number > last - 2
      repeated = len(pages) > 2 and 2 * edges[_DIGITS.sub('#', line)] > len(
        pages
      )
      if not (at_edge and line and (repeated or _PAGE_NUMBER.fullmatch(line))):
        lines.append(line)
  return lines


def _paragraphs(text: str) -> str:
  """Lines of a paragraph joined.

  A line as wide as most goes on in the next one, unless it ends in a stop and
  the next one is blank; a shorter one ends a paragraph, or is a heading.
  """
  lines = text.split('\n')
  widths = sorted(len(line) for line in lines if line)
  wide = 0.75 * widths[9 * len(widths) // 10]
  paragraphs: list[str] = []
  goes_on = False
  for line in lines:
    if goes_on and line:
      paragraphs[-1] += f' {line}'
    elif line:
      paragraphs.append(line)
    goes_on = bool(line) and (len(line) > wide)
  return '\n\n'.join(paragraphs)
