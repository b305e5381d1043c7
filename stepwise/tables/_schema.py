"""Template files: which entries a table has, and the sentence of each."""

import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from stepwise._errors import InputError
from stepwise.data import open_for_reading


@dataclass(frozen=True)
class Kind:
  """The entries of one kind of entity, in their order.

  Attributes:
    templates: the sentence of every entry type, with `{entity}`, `{value}` and
      columns of the entity to fill in.
    repeatable: types that a plan may choose more than once.
    unranked: numeric types that are not ranked.
    drop_zeros: whether entries of value 0 go when a table is too long.
  """

  templates: Mapping[str, str]
  repeatable: frozenset[str] = frozenset()
  unranked: frozenset[str] = frozenset()
  drop_zeros: bool = False


@dataclass(frozen=True)
class Schema:
  """What a template file says; `templates.toml` describes the format.

  Attributes:
    kinds: the kinds of entities, by name.
    entity: the column that names an entity.
    kind: the column of its kind; with a single kind it may be missing.
    space: written in place of the spaces of names and values.
    missing: values that stand for nothing.
  """

  kinds: Mapping[str, Kind]
  entity: str = 'entity'
  kind: str = 'kind'
  space: str = ' '
  missing: frozenset[str] = field(default=frozenset({''}))


def load_schema(path: str | os.PathLike[str]) -> Schema:
  """Reads a template file, `.toml` or `.json`."""
  path = Path(path)
  with open_for_reading(path) as stream:
    content = stream.read()
  try:
    text = content.decode()
    parsed = tomllib.loads(text) if path.suffix == '.toml' else json.loads(text)
    return _parse_schema(parsed)
  except (tomllib.TOMLDecodeError, ValueError) as error:
    raise InputError(f'{path}: not a template file: {error}') from error


def _parse_schema(content: Any) -> Schema:
  _check_keys('a template file', content, Schema)
  kinds = content.get('kinds')
  if not kinds:
    raise InputError("'kinds' must have at least one kind of entity.")
  options = {key: content[key] for key in content if key != 'kinds'}
  if 'missing' in options:
    options['missing'] = frozenset({'', *options['missing']})
  parsed = {name: _parse_kind(name, kind) for name, kind in kinds.items()}
  return Schema(parsed, **options)


def _parse_kind(name: str, content: Any) -> Kind:
  _check_keys(f'kind {name!r}', content, Kind)
  templates = content.get('templates')
  if not templates:
    raise InputError(f"kind {name!r} must have 'templates'.")
  kind = Kind(
    templates,
    frozenset(content.get('repeatable', ())),
    frozenset(content.get('unranked', ())),
    content.get('drop_zeros', False),
  )
  unknown = (kind.repeatable | kind.unranked) - set(templates)
  if unknown:
    raise InputError(f'kind {name!r} has no template of {sorted(unknown)}.')
  return kind


def _check_keys(what: str, content: Any, form: type) -> None:
  known = {part.name for part in fields(form)}
  if not isinstance(content, dict) or not set(content) <= known:
    raise InputError(f'{what} must be an object with keys {sorted(known)}.')
