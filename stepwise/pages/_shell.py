"""What all pages share: one file, one style, nothing asked of the network."""

import base64
import functools
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from stepwise.pages._html import Html, html, tag

_POLICY = (
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none';"
  " form-action 'none'"
)
# Written from right to left.
_RIGHT_TO_LEFT = frozenset(
  ['ar', 'arc', 'ckb', 'dv', 'fa', 'he', 'ku', 'ps', 'sd', 'ug', 'ur', 'yi']
)
# Scripts of pages, which the server's own page lets run as well.
SCRIPTS = ('shell.js', 'steps.js')


def render_shell(
  title: str,
  lead: str,
  body: Html,
  *,
  answer: Html = Html(),
  answer_title: str = 'Answer',
  copies: Mapping[str, str] | None = None,
  notes: Sequence[str] = (),
  language: str = '',
  style: str = '',
  scripts: Sequence[str] = (),
  data: Any = None,
  wide: bool = False,
  beside: bool = False,
) -> str:
  """A page, the answer first.

  Args:
    title: of the page.
    lead: one sentence about the whole.
    body: how the answer came about.
    answer: what the reader came for.
    answer_title: what that is.
    copies: what can be copied, by what a button says.
    notes: what the reader must know, one sentence each.
    language: code of that of the answer, if it is known.
    style: rules of this kind of page.
    scripts: files of this package; no other script may run.
    data: what they need, as JSON.
    wide: for tables.
    beside: the answer stands beside the rest, where there is room.
  """
  listed = tag('ul', *(tag('li', note) for note in notes), class_='notes')
  if answer:
    scripts = ('shell.js', *scripts)
  sources = ' '.join(f"'{script_hash(name)}'" for name in scripts)
  parts = {
    'policy': html(_POLICY + (f'; script-src {sources}' if scripts else '')),
    'title': title,
    'words': Html(''.join(f' {k}="{v}"' for k, v in written(language).items())),
    'lead': lead,
    'notes': listed if notes else '',
    'answer': _answer(answer, answer_title, copies or {}, language),
    'body': body,
    'style': Html(read('shell.css') + style),
    'script': html(
      _data('copies', copies) if copies else '',
      _data('data', data) if data is not None else '',
      *(tag('script', Html(read(name))) for name in scripts),
    ),
    'wide': Html(' class="wide"' if wide or beside else ''),
    'beside': Html(' class="beside"' if beside else ''),
  }
  return fill(read('shell.html'), parts)


def written(language: str) -> dict[str, str]:
  """Attributes of text in a language: its code, and where lines begin."""
  if not language:
    return {'dir': 'auto'}
  way = 'rtl' if language in _RIGHT_TO_LEFT else 'ltr'
  return {'lang': language, 'dir': way}


def script_hash(name: str) -> str:
  """As a policy names a script of this package."""
  digest = hashlib.sha256(read(name).encode()).digest()
  return f'sha256-{base64.b64encode(digest).decode()}'


def _answer(
  answer: Html, title: str, copies: Mapping[str, str], language: str
) -> Html:
  if not answer:
    return Html()
  buttons = (
    tag('button', name, type='button', class_='small', data_copy=name)
    for name in copies
  )
  above = tag(
    'div',
    tag('h2', title, id='answer'),
    *buttons,
    tag('span', class_='copied', role='status'),
    class_='above',
  )
  return tag(
    'section',
    above,
    tag('div', answer, class_='said', **written(language)),
    class_='answer',
    aria_labelledby='answer',
  )


def _data(name: str, content: Any) -> Html:
  """What a script needs, as JSON that cannot end its element."""
  text = json.dumps(content)
  for sign in '<>&':
    text = text.replace(sign, f'\\u{ord(sign):04x}')
  return tag('script', Html(text), type='application/json', id=name)


def fill(template: str, parts: Mapping[str, str]) -> Html:
  """A template with its `{{names}}` replaced by escaped text or by HTML.

  In one pass: what is put in is not looked at again.
  """
  return Html(
    re.sub(r'\{\{(\w+)\}\}', lambda found: html(parts[found[1]]), template)
  )


@functools.cache
def read(name: str) -> str:
  """A file of this package."""
  folder = resources.files('stepwise.pages')
  return (folder / name).read_text(encoding='utf-8')
