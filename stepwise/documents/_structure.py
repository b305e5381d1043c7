"""From a text, or blocks of one, to units that know what they are."""

# ruff: noqa: RUF001 (marks of many kinds of lists)

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from stepwise._errors import InputError
from stepwise.documents._document import Kind
from stepwise.documents._kinds import (
  is_caption,
  is_sign_off,
  looks_like_code,
  unit_kind,
)
from stepwise.documents._words import count_words

Span = tuple[int, int]
Spans = Sequence[Span]
Splitter = Callable[[str], Spans]
# How texts are cut: into sentences; into paragraphs; not at all, so that every
# line, or every item of a list, is a unit.
Split = Literal['auto', 'paragraphs', 'never']

_FENCE = re.compile(r'\s*(?:```|~~~)')
_QUOTED = re.compile(r'\s*>')
_ATTRIBUTION = re.compile(
  r'\s*(?:>\s*)*(?:On .{6,80}wrote:|Am .{6,80}schrieb.{0,60}:|'
  r'Le .{6,80}a écrit\s*:|El .{6,80}escribió:|Il .{6,80}ha scritto:|'
  r'-{2,}\s*(?:Original Message|Forwarded message|Ursprüngliche Nachricht).*)'
  r'\s*$'
)
_LABELLED = re.compile(r'[^\W\d_][\w -]{0,23}\s?: \S')
_ITEM = re.compile(r'\s*(?:[-*•‣◦▪●–—]|\(?\d{1,2}[.)]|\(?[a-z][.)])\s+(?=\S)')
_HASHES = re.compile(r'\s{0,3}#{1,6}\s+(?=\S)')
_UNDERLINE = re.compile(r'\s*(?:=\s?|-\s?|~\s?|\*\s?|_\s?){3,}$')
_TABLE = re.compile(
  r'[^\t]*\t[^\t]*\t|\s*\|.*\|\s*$|\s*\S[^|]*(?: \| [^|]+){2,}$'
)
_SIGNATURE_LINES = 10


class Block(NamedTuple):
  """A piece of a document; kind None is prose, which is looked at."""

  text: str
  kind: Kind | None = None


class Region(NamedTuple):
  """A block as a slice of a text."""

  start: int
  end: int
  kind: Kind | None = None


class Units(NamedTuple):
  spans: tuple[Span, ...]
  kinds: tuple[Kind, ...]


def join_blocks(blocks: Sequence[Block]) -> tuple[str, list[Region]]:
  """Blocks with blank lines between them; no unit reaches across one."""
  regions, offset = [], 0
  for text, kind in blocks:
    regions.append(Region(offset, offset + len(text), kind))
    offset += len(text) + 2
  return '\n\n'.join(block.text for block in blocks), regions


def find_units(
  text: str, regions: Sequence[Region], splitter: Splitter, split: str
) -> Units:
  """The units of a text, region by region."""
  found: list[tuple[Span, Kind, bool]] = []
  for region in regions:
    found += _units_of(text, region, splitter, split)
  kinds = tuple(_trusted(text, found))
  return Units(tuple(span for span, _, _ in found), kinds)


def text_regions(text: str) -> list[Region]:
  """Code, quotations, lists, headings and signatures of a plain text.

  What is none of them is prose. Regions are in order and leave out nothing
  but marks, such as the bullets of a list, and white space.
  """
  regions: list[Region] = []
  for region in _mark_lines(_lines(text)):
    if regions and _goes_on(text, regions[-1], region):
      regions[-1] = Region(regions[-1].start, region.end, regions[-1].kind)
    else:
      regions.append(region)
  return regions


def line_regions(text: str) -> list[Region]:
  """Every line that is not blank."""
  return [
    Region(_start(line), line.end) for line in _lines(text) if line.text.strip()
  ]


def _goes_on(text: str, region: Region, line: Region) -> bool:
  """Whether a line belongs to the region before it."""
  if line.kind == region.kind:
    # Lines of prose are cut by the splitter, which has to see them together.
    return line.kind in (None, 'code', 'quotation')
  apart = text.count('\n', region.end, line.start) > 1
  if apart or text[region.end - 1] in '.:;!?':
    return False
  if region.kind is None:
    # `at the age of / 21. He won`: wrapped prose, not a list.
    return line.kind == 'item' and text[line.start - 2] == '.'
  indented = text[line.start - 1] in ' \t'
  return (
    region.kind == 'item'
    and line.kind is None
    and (indented or text[line.start].islower())
  )


class _Line(NamedTuple):
  text: str
  start: int
  # The line before it is blank, or there is none.
  after_blank: bool
  before_blank: bool

  @property
  def end(self) -> int:
    return self.start + len(self.text.rstrip())


def _lines(text: str) -> list[_Line]:
  lines, offset = [], 0
  raw = text.splitlines(keepends=True)
  for number, line in enumerate(raw):
    after = number == 0 or not raw[number - 1].strip()
    before = number + 1 == len(raw) or not raw[number + 1].strip()
    lines.append(_Line(line, offset, after, before))
    offset += len(line)
  return lines


def _mark_lines(lines: list[_Line]) -> Iterator[Region]:
  number = 0
  signed = _signature_start(lines)
  labelled = _labelled_lines(lines)
  while number < len(lines):
    line = lines[number]
    if not line.text.strip():
      # It keeps two paragraphs of prose apart for the splitter, which sees it.
      number += 1
      continue
    if _FENCE.match(line.text):
      end = _fence_end(lines, number)
      yield Region(line.start, lines[end].end, 'code')
      number = end + 1
      continue
    quoted = _QUOTED.match(line.text) or _ATTRIBUTION.match(line.text)
    if signed <= number and not quoted:
      yield Region(_start(line), line.end, 'signature')
    elif number in labelled:
      yield Region(_start(line), line.end, 'byline')
    else:
      yield _mark(line, lines[number + 1] if number + 1 < len(lines) else None)
    number += 1


def _mark(line: _Line, following: _Line | None) -> Region:
  text = line.text
  if _ATTRIBUTION.match(text):
    return Region(_start(line), line.end, 'byline')
  if _QUOTED.match(text):
    return Region(_start(line), line.end, 'quotation')
  if mark := _HASHES.match(text):
    return Region(line.start + mark.end(), line.end, 'heading')
  if _UNDERLINE.match(text):
    return Region(_start(line), line.end, 'fragment')
  if following and _UNDERLINE.match(following.text) and line.after_blank:
    return Region(_start(line), line.end, 'heading')
  if line.after_blank and line.before_blank and is_caption(text):
    return Region(_start(line), line.end, 'caption')
  if _TABLE.match(text.rstrip('\r\n')):
    return Region(_start(line), line.end, 'row')
  indented = text.startswith(('    ', '\t'))
  if indented and looks_like_code(text):
    return Region(line.start, line.end, 'code')
  if mark := _ITEM.match(text):
    alone = line.after_blank and line.before_blank
    if alone and mark[0].strip()[0].isdigit() and _is_title(text[mark.end() :]):
      return Region(_start(line), line.end, 'heading')
    return Region(line.start + mark.end(), line.end, 'item')
  return Region(_start(line), line.end)


def _is_title(text: str) -> bool:
  return unit_kind(text.strip(), whole_line=True) == 'heading'


def _start(line: _Line) -> int:
  return line.start + len(line.text) - len(line.text.lstrip())


def _fence_end(lines: list[_Line], start: int) -> int:
  mark = lines[start].text.strip()[:3]
  for number in range(start + 1, len(lines)):
    if lines[number].text.strip().startswith(mark):
      return number
  return len(lines) - 1


def _labelled_lines(lines: list[_Line]) -> set[int]:
  """Lines such as `Date: 3 May` in a row, the header of a mail or of minutes.

  One alone is none, and neither is speech, which ends in stops.
  """
  found: set[int] = set()
  run: list[int] = []
  for number, line in enumerate([*lines, _Line('', 0, True, True)]):
    text = line.text.rstrip()
    if _LABELLED.match(text) and text[-1] not in '.!?':
      run.append(number)
    else:
      found.update(run if len(run) > 1 else ())
      run = []
  return found


def _signature_start(lines: list[_Line]) -> int:
  """The line that a signature at the end of a text begins with."""
  filled = [n for n, line in enumerate(lines) if line.text.strip()]
  own = [n for n in filled if not _QUOTED.match(lines[n].text)]
  for number in own[-_SIGNATURE_LINES:]:
    line = lines[number].text
    rest = [lines[n].text for n in own if n > number]
    if line.rstrip('\r\n') in ('--', '-- '):
      return number
    short = all(count_words(each) <= 8 for each in rest)
    if is_sign_off(line) and short and len(rest) <= _SIGNATURE_LINES:
      return number
  return len(lines)


def _units_of(
  text: str, region: Region, splitter: Splitter, split: str
) -> Iterator[tuple[Span, Kind, bool]]:
  """Spans, kinds, and whether the kind is a guess."""
  start, end, kind = region
  content = text[start:end]
  if kind not in (None, 'item', 'quotation') or split == 'never':
    spans: Spans = [(0, len(content))]
  elif split == 'paragraphs':
    spans = _paragraphs(content)
  else:
    spans = splitter(content)
    check_spans(content, spans)
  for first, last in spans:
    first, last = _stripped(content, first, last)
    if first == last:
      continue
    guess = kind is None and split != 'never'
    found: Kind = kind or 'sentence'
    if guess:
      whole = _is_whole_line(content, first, last)
      found = unit_kind(content[first:last], whole_line=whole)
    yield (start + first, start + last), found, guess


def _stripped(text: str, start: int, end: int) -> Span:
  inner = text[start:end]
  left = len(inner) - len(inner.lstrip())
  return start + left, max(start + len(inner.rstrip()), start + left)


def _paragraphs(text: str) -> list[Span]:
  spans, offset = [], 0
  for piece in re.split(r'(\n[ \t\r]*\n\s*)', text):
    if piece.strip():
      spans.append((offset, offset + len(piece)))
    offset += len(piece)
  return spans


def _is_whole_line(text: str, start: int, end: int) -> bool:
  line = text.rfind('\n', 0, start) + 1
  stop = text.find('\n', end)
  after = text[end : stop if stop >= 0 else len(text)]
  return not text[line:start].strip() and not after.strip()


def _trusted(
  text: str, found: Sequence[tuple[Span, Kind, bool]]
) -> Iterator[Kind]:
  """Kinds, unless the looks of a text say that it has hardly a sentence.

  Then it is not written in sentences that end in stops, and looks tell
  nothing.
  """
  prose = doubted = 0
  for (start, end), kind, guess in found:
    if guess:
      words = count_words(text[start:end])
      prose += words
      doubted += words if kind in ('heading', 'fragment') else 0
  distrust = 2 * doubted > prose
  for (start, end), kind, guess in found:
    says = any(map(str.isalnum, text[start:end]))
    if guess and distrust and says and kind in ('heading', 'fragment'):
      yield 'sentence'
    else:
      yield kind


def check_spans(text: str, spans: Spans) -> None:
  """Spans of a splitter are in order, disjoint and not empty."""
  position = 0
  for start, end in spans:
    if not position <= start < end <= len(text):
      raise InputError(
        f'splitter returned the span ({start}, {end}) after {position} in a '
        f'text of {len(text)}; spans must be in order, disjoint and not empty.'
      )
    position = end
