"""Which stops end a sentence: the rules, one decision per stop."""

# ruff: noqa: RUF001 (marks of many scripts are the subject of this file)

import re
from collections.abc import Iterator

from stepwise.documents import _abbreviations as words

Span = tuple[int, int]

# Stops that end a sentence whatever follows, with or without a space: CJK,
# Arabic, Urdu, Devanagari, Armenian, Ethiopic, Burmese, Khmer.
_FULL_STOPS = '。！？｡؟۔।॥։።፧။។'
_FULL_STOP_MARKS = frozenset(_FULL_STOPS)
_QUOTES = '"\'“”‘’«»‹›」』】〉》'
_QUOTE_MARKS = frozenset(_QUOTES)
_CLOSERS = re.escape(_QUOTES + ')]}）')
_OPENERS = re.escape('"\'“”‘’„‚«‹([{（「『【〈《¿¡$£€¥₹#@')
_EMOJI = '\U0001f000-\U0001faff\u2600-\u27bf\ufe0f\u200d'

# A run of stops, then what may trail it: closing marks, a spaced ellipsis,
# emoji, footnote marks. `;` is the question mark of Greek.
_STOP = re.compile(
  rf'(?P<run>(?:[.!?…{_FULL_STOPS}]|(?<=[Ͱ-Ͽἀ-῿]);)'
  rf'[.!?…{_FULL_STOPS}{_CLOSERS}]*'
  rf"(?:[ \xa0\u202f]?(?:\.(?!\w)|''|»|[{_EMOJI}]|\[\d{{1,3}}\]))*)"
  r'(?P<gap>\s*)'
)
_NEXT = re.compile(rf'[{_OPENERS}]*(?P<word>\w*)')
_ALPHANUMERIC = re.compile(r'[^\W_]')
_ACRONYM = re.compile(r'(?:[^\W\d_]\.-?)+[^\W\d_]')
_ENUMERATOR = re.compile(r'[(\[]?(?:\d{1,3}|[A-Za-z]|[ivx]+|[IVX]+)')
# `"Why?" Det. Insp. Clarke asked.`
_ATTRIBUTION = re.compile(
  r"(?:[A-Z][\w’'-]*\.? ){1,4}"
  r'(?:said|says|asked|asks|told|added|replied|shouted|cried|wrote|writes|'
  r'tweeted|wondered|wanted|yelled|screamed|joked|continued|demanded|replies|'
  r'tells|posted|captioned|exclaimed|insisted|recalled|explained|roared)\b'
)


def split_at_stops(
  text: str, start: int, end: int, rules: words.Language = words.ENGLISH
) -> Iterator[Span]:
  """Cuts `text[start:end]` after every stop that ends a sentence."""
  word = _ALPHANUMERIC.search(text, start, end)
  for stop in _STOP.finditer(text, start, end):
    if word is None:
      break
    if stop.start() < word.start():
      continue
    if _ends_sentence(text, start, stop, end, rules):
      close = _end_of_run(stop, rules)
      yield start, close
      start = stop.end() if close == stop.end('run') else close + 1
      word = _ALPHANUMERIC.search(text, start, end)
  if start < end:
    yield start, end


def _end_of_run(stop: re.Match, rules: words.Language) -> int:
  """Where a sentence ends: before a mark that opens the next one."""
  opening = stop['run'].find(f' {rules.opening}') if rules.opening else -1
  return stop.start() + opening if opening > 0 else stop.end('run')


def _ends_sentence(
  text: str, start: int, stop: re.Match, end: int, rules: words.Language
) -> bool:
  """Whether the stop ends the sentence that began at `start`."""
  run, gap = stop['run'], stop['gap']
  following = _NEXT.match(text, stop.end(), end)
  assert following is not None  # The pattern matches the empty string.
  word = following['word']
  if not word or word[0] == '_':
    return False
  if not _FULL_STOP_MARKS.isdisjoint(run):
    # In Japanese a quotation goes on with a particle: 「行こう。」と.
    return not (run[-1] in _QUOTES and word[0] in 'とっ')
  before = text[stop.start() - 1]
  if '……' in run and '\u3400' <= before <= '\u9fff':
    return True
  if not gap and word not in rules.starters:
    return False
  token = _token_before(text, start, stop.start())
  if rules.elides:
    token = re.split("['’]", token)[-1]
  if not gap:
    return _is_glued(text, token, following, end)
  if before.isspace() and run in ('.', '!', '?'):
    return True  # Tokenised text: `on monday . he said`.
  if word[0].islower() and not word[1:2].isupper():
    return False
  starter = _is_starter(text, following, end, rules)
  if '!' in run or '?' in run:
    return _ends_after_mark(text, stop, token, starter, end)
  if _is_ellipsis(run):
    detached = before.isspace()
    return starter and word != 'I' if detached else not word[0].isdigit()
  if run[0] == ';':
    return True
  if _ENUMERATOR.fullmatch(text, start, stop.start()):
    return False
  return _ends_after_period(token, run, word, starter, rules)


def _token_before(text: str, start: int, stop: int) -> str:
  """The word that a stop follows; long words are cut, none is looked up."""
  chunk = text[max(start, stop - 32) : stop]
  token = '' if chunk[-1].isspace() else chunk.split()[-1]
  return token.lstrip('"\'“‘«([{-–—/')


def _is_glued(text: str, token: str, following: re.Match, end: int) -> bool:
  """A missing space before a starter: `He left.The door shut.`"""
  after = following.end()
  return (
    len(token) > 1
    and token.isalpha()
    and token[-1].islower()
    and after < end
    and text[after] in " '’"
  )


def _is_ellipsis(run: str) -> bool:
  return '…' in run or run.count('.') > 1


def _is_starter(
  text: str, following: re.Match, end: int, rules: words.Language
) -> bool:
  """Whether the next word begins sentences; `A.` is an initial, not a word."""
  stop = following.end()
  initial = stop < end and text[stop] == '.'
  return following['word'] in rules.starters and not initial


def _ends_after_mark(
  text: str, stop: re.Match, token: str, starter: bool, end: int
) -> bool:
  """Exclamation and question marks, before a word that is not lower-case."""
  if text[stop.start() - 1] in '([':
    return False
  if starter:
    return True
  if token in words.MARKED_NAMES:
    return False
  quoted = not _QUOTE_MARKS.isdisjoint(stop['run'])
  return not (quoted and _ATTRIBUTION.match(text, stop.end(), end))


def _ends_after_period(
  token: str, run: str, word: str, starter: bool, rules: words.Language
) -> bool:
  """A single full stop, before a word that is not lower-case."""
  if token in rules.titles:
    return False
  if _is_numbered(token, word, rules):
    return False
  if _is_ordinal(token):
    if word in rules.months:
      return False
    if rules.ordinals:
      return starter
  if token in words.CLOCK:
    return starter or not (word in words.AFTER_CLOCK or _is_time_zone(word))
  if _is_initial(token, word) or token in rules.abbreviations:
    return starter or not _QUOTE_MARKS.isdisjoint(run)
  return True


def _is_ordinal(token: str) -> bool:
  """`1.`, `21.` or `XIV.`, but not the year `1999.`"""
  if token.isdigit():
    return len(token) < 3
  return len(token) > 1 and not token.strip('IVX')


def _is_numbered(token: str, word: str, rules: words.Language) -> bool:
  """`No. 5`, `Vol. II`, `5ft. 4in.`"""
  is_number = word[0].isdigit() or (word != 'I' and not word.strip('IVXL'))
  if rules.streets and token.endswith(rules.streets):
    return is_number
  return is_number and token.lstrip('0123456789') in rules.numbered


def _is_time_zone(word: str) -> bool:
  """`ET`, `GMT`, `E.T.`; a number after a time belongs to it as well."""
  return word[0].isdigit() or (word.isupper() and len(word) < 5)


def _is_initial(token: str, word: str) -> bool:
  """`J. K. Marlowe`, `U.S.`, `z. B.`"""
  if len(token) == 1:
    return token.isupper() or (token.isalpha() and len(word) == 1)
  return _ACRONYM.fullmatch(token) is not None
