"""Pieces of HTML: all text is escaped but what is marked as HTML."""

from collections.abc import Iterable, Sequence
from html import escape

_VOID = ('br',)


class Html(str):
  """Text that is HTML already; other text is escaped when it is put in."""

  __slots__ = ()


def html(*parts: str) -> Html:
  """Parts one after another, each escaped unless it is HTML."""
  return Html(
    ''.join(part if isinstance(part, Html) else escape(part) for part in parts)
  )


def tag(
  name: str, *children: str, **attributes: str | int | bool | None
) -> Html:
  """An element, such as `tag('td', text, class_='used', aria_label=name)`.

  Attributes that are None or False are left out; True is a name without value.
  """
  opening = ''.join([name, *map(_attribute, attributes, attributes.values())])
  if name in _VOID:
    return Html(f'<{opening}>')
  return Html(f'<{opening}>{html(*children)}</{name}>')


def _attribute(name: str, value: str | int | bool | None) -> str:
  if value is None or value is False:
    return ''
  name = name.rstrip('_').replace('_', '-')
  return f' {name}' if value is True else f' {name}="{escape(str(value))}"'


def table(
  label: str,
  header: Sequence[str],
  rows: Iterable[tuple[str, Sequence[Html]]],
) -> Html:
  """A table that scrolls by itself where it is wider than the page.

  Args:
    label: what it shows.
    header: of every column, that of the rows' names first.
    rows: a name, and the cells: elements `td`.
  """
  # A header without words says nothing to those who hear it.
  head = (
    tag('th', cell, scope='col') if cell else tag('td') for cell in header
  )
  body = (
    tag('tr', tag('th', name, scope='row'), *cells) for name, cells in rows
  )
  return tag(
    'div',
    tag(
      'table',
      tag('thead', tag('tr', *head)),
      tag('tbody', *body),
    ),
    class_='table',
    role='region',
    tabindex=0,
    aria_label=label,
  )
