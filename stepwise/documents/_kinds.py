"""What a unit of plain text is, told by its looks alone."""

# ruff: noqa: RUF001 (marks and words of many scripts)

import re

from stepwise.documents._document import Kind
from stepwise.documents._words import count_words

# A heading has at most so many words.
_HEADING_WORDS = 14
_LABEL_WORDS = 8
# An item of a list that has fewer words and no stop says too little alone.
_ITEM_WORDS = 6

_ENDS = re.compile(r'[.!?…。！？｡؟۔।॥։።፧။។;,][\W_]*$')
# `By Anna Reed, staff`: words between the names are lower-case particles.
_AUTHOR = re.compile(r'(?:By|BY|Von|Par|Por|Di|Door)\s+[A-ZÀ-Þ][^.!?:]{2,70}')
_DATED = re.compile(
  r'(?:published|updated|posted|last modified|created|first published|'
  r'veröffentlicht|stand|publié|publicado|pubblicato|gepubliceerd)\b'
  r'[^.!?]{0,12}\d[^!?]{0,60}',
  re.IGNORECASE,
)
_ROLE = re.compile(
  r'[^.!?]{2,60}(?:staff writer|correspondent|reporter)', re.IGNORECASE
)
_CAPTION = re.compile(
  r'(?:(?:figure|fig\.|table|tab\.|abbildung|abb\.|tabelle|figura|tabella|'
  r'tableau|tabla|tabela|figuur|tabel|рис\.|рисунок|таблица|図|表|图)\s*'
  r'(?:S?\d+|[IVX]+)\s?[.:)—–|-]\s*\S)'
  r'|(?:(?:photo|image|picture|photograph|foto|bild|pictured|source|quelle|'
  r'video)\s*(?:by|:|von)\s)'
  r'|(?:scroll down (?:for|to) )',
  re.IGNORECASE,
)
_SIGN_OFF = re.compile(
  r'(?:(?:with )?(?:best|kind|warm|many)(?: (?:regards|wishes|thanks))?'
  r'|regards|cheers|thanks(?: again)?|thank you|many thanks|yours(?: \w+)?'
  r'|(?:yours )?(?:sincerely|faithfully|truly)|cordially|love|sent from my .*'
  r'|(?:mit )?(?:freundlichen|besten|herzlichen|lieben|vielen)? ?'
  r'(?:freundliche|beste|herzliche|liebe|viele)?n? ?gr(?:ü|ue)(?:ß|ss)en?'
  r'|(?:bien )?cordialement|salutations|un saludo|saludos(?: cordiales)?'
  r'|atentamente|cordiali saluti|distinti saluti|atenciosamente|abraços'
  r'|met vriendelijke groet(?:en)?|с уважением)\s*[,.!–-]*',
  re.IGNORECASE,
)
_GREETING = re.compile(
  r'(?:(?:dear|hi|hello|hey|good (?:morning|afternoon|evening)|hallo|'
  r'liebe[rs]?|sehr geehrte[rs]?|guten (?:tag|morgen)|bonjour|cher|chère|'
  r'chers|hola|'
  r'estimad[oa]s?|ciao|gentile|caro|cara|olá|prezad[oa]s?|beste|geachte)\b'
  r'[^.?]{0,50}[,:!])',
  re.IGNORECASE,
)
_COURTESY = re.compile(
  r'(?:please )?(?:let me know if (?:you have (?:any |further )?questions|'
  r'anything is unclear)|(?:i|we) hope (?:this (?:mail |email |e-mail )?finds '
  r'you well|(?:you|that you|everyone|all)\b.{0,25}\b(?:well|week(?:end)?|'
  r'day))|(?:i|we)(?: am|\'m|’m| are)? look(?:ing)? forward to .{0,30}|'
  r'(?:many )?thanks? (?:you )?(?:(?:very|so) much )?(?:in advance|for your '
  r'(?:time|help|patience|understanding)).{0,20})[.!]*',
  re.IGNORECASE,
)
_RULE = re.compile(r'[\W_]*')
_ADDRESS = re.compile(
  r'\W*(?:https?://\S+|www\.\S+|[\w.+-]+@[\w-]+\.[\w.]+)\W*'
)
_CODE = re.compile(
  r'(?:[{};]\s*$)|(?:^\s*(?:def|class|import|from|return|var|let|const|'
  r'function|public|private|#include|if|for|while)\b.*[(){};:]\s*$)'
  r'|(?:^\s*(?:\$|>>>|#!)\s?\S)|(?:\w\(.*\)\s*$)|(?:^\s*[\w.\[\]]+\s*[-+*/]?=\s)'
  r'|(?:</?\w+[^>]*>)',
)


def is_sign_off(line: str) -> bool:
  """`Best,`, `Mit freundlichen Grüßen`: what follows is a signature."""
  return _SIGN_OFF.fullmatch(line.strip()) is not None


def is_greeting(line: str) -> bool:
  """`Dear Ms Hale,`"""
  return _GREETING.fullmatch(line.strip()) is not None


def is_byline(line: str) -> bool:
  """`By Anna Reed`, `Published: 3 May 2024`."""
  line = line.strip()
  if count_words(line) > 12:
    return False
  if _DATED.fullmatch(line) or _ROLE.fullmatch(line):
    return True
  names = [word for word in line.split() if word[0].isupper()]
  return _AUTHOR.fullmatch(line) is not None and 2 * len(names) > len(
    line.split()
  )


def is_caption(line: str) -> bool:
  """`Figure 3: the harbour`, `Photo: Anna Reed`."""
  return _CAPTION.match(line.strip()) is not None


def looks_like_code(line: str) -> bool:
  """Whether a line could be one of a program."""
  return _CODE.search(line) is not None


def ends_like_a_sentence(unit: str) -> bool:
  return _ENDS.search(unit) is not None and unit.rstrip()[-1] not in ',;'


def says_something(unit: str) -> bool:
  """Whether an item of a list stands for itself."""
  return ends_like_a_sentence(unit) or count_words(unit) >= _ITEM_WORDS


def unit_kind(unit: str, *, whole_line: bool) -> Kind:
  """The kind of a unit of prose.

  Args:
    unit: its text.
    whole_line: it is a line, or several, and nothing else is on them; a unit
      that is not is a sentence or a piece of one.
  """
  if _RULE.fullmatch(unit) or _ADDRESS.fullmatch(unit):
    return 'fragment'
  words = count_words(unit)
  stopped = _ENDS.search(unit) is not None
  if _COURTESY.fullmatch(unit):
    return 'signature'
  if not whole_line:
    return 'sentence' if stopped or words > 3 else 'fragment'
  if is_byline(unit):
    return 'byline'
  if is_caption(unit) and not (stopped and words > 30):
    return 'caption'
  if is_greeting(unit) or is_sign_off(unit):
    return 'signature'
  if '\n' in unit or (stopped and unit.rstrip()[-1] not in ','):
    return 'sentence'
  if _is_heading(unit, words):
    return 'heading'
  return 'fragment' if words < 4 else 'sentence'


def _is_heading(unit: str, words: int) -> bool:
  if unit.endswith(':'):
    return words <= _LABEL_WORDS
  first = next((char for char in unit if char.isalnum()), '')
  if first.islower() or unit.endswith(','):
    return False
  # What ends in a quotation mark is speech more often than not.
  return words <= _HEADING_WORDS and unit[-1] not in '"”»\''
