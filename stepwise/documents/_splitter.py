"""Offset-preserving sentence splitter: hand-written rules, no downloads.

A text is cut three times: into blocks at blank lines, blocks into segments at
the line breaks that end a paragraph, segments into sentences at stops.

Splitting a sentence again gives that one sentence. Every rule keeps to this
by an invariant: what forbids a boundary lies inside the sentence it holds
together (never before its start, never after its end), and what makes a line
break a boundary in a part of a text makes it one in the whole.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from stepwise.documents._abbreviations import Language, language_rules
from stepwise.documents._stops import Span, split_at_stops

# Longer lines are not hard-wrapped, so the breaks around them are real.
_WRAP_WIDTH = 120
# Shorter than this share of the longest line: more would have fitted.
_SHORT_LINE = 0.5

_ITEM = re.compile(r'[-\u2013\u2014*•‣◦▪●]\s|\(?\d{1,2}\)\s')
_LIST_ITEM = re.compile(rf'\s*(?:{_ITEM.pattern}|\(?\w{{1,2}}[.)]\s)')
_NUMBERED_ITEM = re.compile(r'\d{1,2}\.\s')


def split_sentences(text: str, language: str = '') -> list[Span]:
  """Spans `(start, end)` of the sentences of a text, in order and disjoint.

  Every sentence is a slice of the text without white space around it; only
  white space lies between sentences. A blank line always ends a unit. A line
  break ends one where the lines around it do not look hard-wrapped; a lone
  short headline over one short sentence cannot be told from a wrapped
  sentence, so set it off with a blank line. Linear in the length of the text.

  The code of a language chooses abbreviations and ordinals; without one they
  are those of English.

  >>> text = 'Mr. Hale left at 9 a.m. on Monday. "Why?" she asked.'
  >>> [text[start:end] for start, end in split_sentences(text)]
  ['Mr. Hale left at 9 a.m. on Monday.', '"Why?" she asked.']
  """
  rules = language_rules(language)
  return [
    span
    for lines in _blocks(text)
    for start, end in _segments(text, lines, rules)
    for span in split_at_stops(text, start, end, rules)
  ]


def is_list_item(text: str) -> bool:
  """Whether a paragraph begins with a bullet or a number: `- `, `2)`, `b.`"""
  return _LIST_ITEM.match(text) is not None


def _blocks(text: str) -> Iterator[list[Span]]:
  """The stripped lines of every run of lines without a blank one."""
  block: list[Span] = []
  offset = 0
  for line in text.splitlines(keepends=True):
    content = line.strip()
    if content:
      start = offset + len(line) - len(line.lstrip())
      block.append((start, start + len(content)))
    elif block:
      yield block
      block = []
    offset += len(line)
  if block:
    yield block


def _segments(text: str, lines: list[Span], rules: Language) -> list[Span]:
  """Joins the lines of a block that are one hard-wrapped paragraph.

  Sentences of a wrapped paragraph have no stop inside, so a block with one
  may be judged by any evidence; a block without may be such a sentence, cut
  out, whose first line is shorter than it was: that line proves nothing.
  """
  if len(lines) == 1:
    return lines
  inside = split_at_stops(text, lines[0][0], lines[-1][1], rules)
  ends = {end for _, end in inside}
  has_stop_inside = len(ends) > 1
  stopped_lines = sum(end in ends for _, end in lines[:-1])
  one_per_line = has_stop_inside and 2 * stopped_lines > len(lines) - 1
  short = _SHORT_LINE * max(end - start for start, end in lines)
  segments = [lines[0]]
  for index, (line, following) in enumerate(pairwise(lines)):
    is_cut_short = line[1] - line[0] <= short
    if (
      one_per_line
      or _is_paragraph_break(line, following)
      or _is_item(text, line, following, continues=has_stop_inside)
      or (is_cut_short and (index > 0 or has_stop_inside))
    ):
      segments.append(following)
    else:
      segments[-1] = segments[-1][0], following[1]
  return segments


def _is_paragraph_break(line: Span, following: Span) -> bool:
  return max(line[1] - line[0], following[1] - following[0]) > _WRAP_WIDTH


def _is_item(text: str, line: Span, following: Span, continues: bool) -> bool:
  """Whether a line begins an item of a list.

  A number alone may be the end of a wrapped sentence (`at the age of / 21.`):
  it needs a stop or a colon before it or, where allowed, an item.
  """
  if _ITEM.match(text, *following):
    return True
  if not _NUMBERED_ITEM.match(text, *following):
    return False
  after_item = continues and _NUMBERED_ITEM.match(text, *line) is not None
  return after_item or text[line[1] - 1] in '.:;!?'
