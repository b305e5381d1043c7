"""What all pages share: one file, one style, nothing asked of the network."""

import functools
import re
from collections.abc import Mapping, Sequence
from importlib import resources

from stepwise.pages._html import Html, html, tag

_POLICY = (
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none';"
  " form-action 'none'"
)


def render_shell(
  title: str,
  lead: str,
  body: Html,
  *,
  answer: Html = Html(),
  notes: Sequence[str] = (),
  style: str = '',
  script: Html = Html(),
  wide: bool = False,
) -> str:
  """A page, the answer first.

  Args:
    title: of the page.
    lead: one sentence about the whole.
    body: how the answer came about.
    answer: what the reader came for.
    notes: what the reader must know, one sentence each.
    style: rules of this kind of page.
    script: elements that come last; without them no script may run.
    wide: for tables.
  """
  listed = tag('ul', *(tag('li', note) for note in notes), class_='notes')
  scripts = "; script-src 'unsafe-inline'" if script else ''
  parts = {
    'policy': Html(_POLICY + scripts),
    'title': title,
    'lead': lead,
    'notes': listed if notes else '',
    'answer': tag('section', answer, class_='answer') if answer else '',
    'body': body,
    'style': Html(style),
    'script': script,
    'wide': Html(' class="wide"' if wide else ''),
  }
  return fill(read('shell.html'), parts)


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
