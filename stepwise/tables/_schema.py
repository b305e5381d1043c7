"""Template files: which entries a table has, and the sentence of each.

A file describes any table of entities:

    name         what planners that learn from such tables call them
    title        what the table is about
    ranks        what an entry's rank adds to its sentence, with {rank} and
                 {count}; default: ' which is {rank} best'
    space        written in place of the spaces of names and values
    missing      values that stand for nothing; their entries are left out
    [kinds.K]    one section for every kind of entity:
      noun, plural   what such entities are called
      entity, period columns that name rows and times, where that is not plain
      templates      entry type = sentence; {entity}, {value} and the columns of
                     the entity are filled in; entries come in this order
      repeatable     types that a plan may choose more than once
      unranked       numeric types without a rank
      drop_zeros     whether entries of value 0 go when a table is too long
      [kinds.K.columns.C]  what is known of a column:
        type         'number', 'text', 'period' or 'id', which is left out; told
                     from its cells, if not given; the rest is of numbers:
        label        its words in a text; its header, if not given
        say          what a text says of it: 'sold {value}'
        unit         '$', '%', 'mm', ...
        better       'high', 'low' or 'none': what the best rank is
        aggregates   of 'total', 'mean', 'share', 'change' and 'growth'; those
                     that fit, if not given
        group        columns of one group stand beside each other in a text
        main         true for the one that matters most
"""

import json
import os
import re
import string
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from stepwise._errors import InputError
from stepwise._files import open_for_reading

AGGREGATES = ('total', 'mean', 'share', 'change', 'growth')
_BETTER = ('high', 'low', 'none')
COLUMN_TYPES = ('number', 'text', 'period', 'id')


@dataclass(frozen=True)
class Column:
  """What a template file says of a column; '' = nothing."""

  label: str = ''
  say: str = ''
  unit: str = ''
  better: str = ''
  aggregates: tuple[str, ...] | None = None
  group: str = ''
  main: bool = False
  type: str = ''


@dataclass(frozen=True)
class Kind:
  """The entries of one kind of entity, in their order.

  Attributes:
    templates: the sentence of every entry type, with `{entity}`, `{value}` and
      columns of the entity to fill in.
    repeatable: types that a plan may choose more than once.
    unranked: numeric types that are not ranked.
    drop_zeros: whether entries of value 0 go when a table is too long.
    columns: what is known of columns of numbers.
    noun, plural: what entities of the kind are called.
    entity, period: columns that name rows and times.
  """

  templates: Mapping[str, str]
  repeatable: frozenset[str] = frozenset()
  unranked: frozenset[str] = frozenset()
  drop_zeros: bool = False
  columns: Mapping[str, Column] = field(default_factory=dict)
  noun: str = ''
  plural: str = ''
  entity: str = ''
  period: str = ''


@dataclass(frozen=True)
class Schema:
  """What a template file says.

  Attributes:
    kinds: the kinds of entities, by name.
    space: written in place of the spaces of names and values.
    missing: values that stand for nothing.
    title: what the table is about.
    ranks: what a rank adds to the sentence of an entry.
    name: what planners that learn from such tables call them.
  """

  kinds: Mapping[str, Kind]
  space: str = ' '
  missing: frozenset[str] = field(default=frozenset({''}))
  title: str = ''
  ranks: str = ' which is {rank} best'
  name: str = ''


def load_schema(path: str | os.PathLike[str]) -> Schema:
  """Reads a template file, `.toml` or `.json`; a mistake is named by line."""
  path = Path(path)
  with open_for_reading(path) as stream:
    content = stream.read()
  try:
    text = content.decode()
  except ValueError as error:
    raise InputError(f'{path}: not a template file: {error}') from error
  return parse_schema(text, str(path), toml=path.suffix == '.toml')


def parse_schema(text: str, where: str, *, toml: bool = True) -> Schema:
  """What the text of a template file says; `where` is named in mistakes."""
  try:
    parsed = tomllib.loads(text) if toml else json.loads(text)
  except ValueError as error:
    raise InputError(f'{where}: not a template file: {error}') from error
  try:
    return _parse_schema(parsed)
  except _Mistake as error:
    line = _line_of(text, error.keys) if toml else 0
    place = f'{where}:{line}' if line else where
    raise InputError(f'{place}: {error}') from error


class _Mistake(InputError):
  """A mistake at a key of the file."""

  def __init__(self, message: str, *keys: str):
    super().__init__(message)
    self.keys = keys


def _parse_schema(content: Any) -> Schema:
  _check_keys('a template file', content, Schema)
  kinds = content.get('kinds')
  if not kinds:
    raise _Mistake("'kinds' must have at least one kind of entity.", 'kinds')
  options = {key: content[key] for key in content if key != 'kinds'}
  if 'missing' in options:
    options['missing'] = frozenset({'', *_strings(options, 'missing')})
  for key in ('space', 'title', 'ranks', 'name'):
    _string(options, key)
  if 'ranks' in options:
    _check_fields(options['ranks'], {'rank', 'count'}, 'ranks')
  parsed = {name: _parse_kind(name, kind) for name, kind in kinds.items()}
  return Schema(parsed, **options)


def _parse_kind(name: str, content: Any) -> Kind:
  at = ('kinds', name)
  _check_keys(f'kind {name!r}', content, Kind, *at)
  templates = content.get('templates', {})
  columns = content.get('columns', {})
  if not templates and not columns:
    raise _Mistake(f"kind {name!r} must have 'templates' or 'columns'.", *at)
  for type in templates:
    _string(templates, type, *at, 'templates')
  for key in ('noun', 'plural', 'entity', 'period'):
    _string(content, key, *at)
  drop_zeros = content.get('drop_zeros', False)
  if not isinstance(drop_zeros, bool):
    raise _Mistake("'drop_zeros' must be true or false.", *at, 'drop_zeros')
  kind = Kind(
    templates,
    frozenset(_strings(content, 'repeatable', *at)),
    frozenset(_strings(content, 'unranked', *at)),
    drop_zeros,
    {c: _parse_column(c, columns[c], *at, 'columns') for c in columns},
    *(content.get(key, '') for key in ('noun', 'plural', 'entity', 'period')),
  )
  for key in ('repeatable', 'unranked'):
    unknown = getattr(kind, key) - {*templates, *columns}
    if unknown:
      raise _Mistake(
        f'kind {name!r} has no template of {sorted(unknown)}.', *at, key
      )
  return kind


def _parse_column(name: str, content: Any, *at: str) -> Column:
  at = (*at, name)
  _check_keys(f'column {name!r}', content, Column, *at)
  for key in ('label', 'say', 'unit', 'better', 'group', 'type'):
    _string(content, key, *at)
  if 'say' in content:
    _check_fields(content['say'], {'value'}, *at, 'say')
  better = content.get('better', '')
  if better and better not in _BETTER:
    raise _Mistake(f"'better' is {better!r}; {_BETTER} exist.", *at, 'better')
  type = content.get('type', '')
  if type and type not in COLUMN_TYPES:
    raise _Mistake(f"'type' is {type!r}; {COLUMN_TYPES} exist.", *at, 'type')
  aggregates = _strings(content, 'aggregates', *at)
  unknown = set(aggregates) - set(AGGREGATES)
  if unknown:
    raise _Mistake(
      f"'aggregates' has {sorted(unknown)}; {AGGREGATES} exist.",
      *at,
      'aggregates',
    )
  if not isinstance(content.get('main', False), bool):
    raise _Mistake("'main' must be true or false.", *at, 'main')
  given = tuple(aggregates) if 'aggregates' in content else None
  return Column(**{**content, 'aggregates': given})


def _check_keys(what: str, content: Any, form: type, *at: str) -> None:
  known = sorted(part.name for part in fields(form))
  if not isinstance(content, dict):
    raise _Mistake(f'{what} must be an object with keys {known}.', *at)
  for key in content:
    if key not in known:
      raise _Mistake(
        f'{what} must be an object with keys {known}, not {key!r}.', *at, key
      )


def _string(content: Mapping[str, Any], key: str, *at: str) -> None:
  if not isinstance(content.get(key, ''), str):
    raise _Mistake(f'{key!r} must be text.', *at, key)


def _strings(content: Mapping[str, Any], key: str, *at: str) -> list[str]:
  value = content.get(key, [])
  if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
    raise _Mistake(f'{key!r} must be a list of texts.', *at, key)
  return value


def _check_fields(template: str, known: set[str], *at: str) -> None:
  try:
    named = {name for _, name, *_ in string.Formatter().parse(template) if name}
  except ValueError as error:
    raise _Mistake(f'{template!r} is no template: {error}.', *at) from error
  if named - known:
    raise _Mistake(
      f'{template!r} names {sorted(named - known)}; {sorted(known)} exist.', *at
    )


_HEADER = re.compile(r'\s*\[\[?(?P<keys>[^\]]+)\]\]?\s*(?:#.*)?$')
_KEY = re.compile(r"""\s*(?P<key>"[^"]*"|'[^']*'|[\w.-]+)\s*=""")


def _line_of(text: str, keys: tuple[str, ...]) -> int:
  """The line of a key in TOML, or of as much of it as is there."""
  section: list[str] = []
  best, line_of_best = 0, 0
  for number, line in enumerate(text.splitlines(), 1):
    header, assigned = _HEADER.match(line), _KEY.match(line)
    if header:
      section = _dotted(header['keys'])
      path = section
    elif assigned:
      path = section + _dotted(assigned['key'])
    else:
      continue
    shared = 0
    while shared < min(len(path), len(keys)) and path[shared] == keys[shared]:
      shared += 1
    if shared > best and shared == min(len(path), len(keys)):
      best, line_of_best = shared, number
  return line_of_best


def _dotted(text: str) -> list[str]:
  parts = re.findall(r'"[^"]*"|\'[^\']*\'|[^.\s]+', text)
  return [part.strip('"\'') for part in parts]
