"""Files of generated texts, plans and extracted relations, game by game."""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from stepwise._errors import InputError
from stepwise.data import open_for_reading
from stepwise.extraction._mentions import find_entity
from stepwise.extraction._text import parse_number
from stepwise.rotowire import Game
from stepwise.tables import Plan, Relation, parse_plan

TEXT_KEYS = ('prediction', 'summary', 'text')

Row = TypeVar('Row')


@dataclass(frozen=True)
class Outputs:
  """What a system wrote about games, in their order: texts, or plans.

  Plans of extracted relations (`tuples`) have one sentence, and `strings`, the
  same as the file writes them.
  """

  kind: str
  texts: tuple[str, ...] = ()
  plans: tuple[Plan, ...] = ()
  strings: tuple[tuple[Relation, ...], ...] = ()

  def after(self, games: int) -> 'Outputs':
    """Without those about the first games."""
    return self.only(range(games, max(len(self.texts), len(self.plans))))

  def only(self, places: Sequence[int]) -> 'Outputs':
    """Those about the games at these places."""

    def chosen(column: tuple[Row, ...]) -> tuple[Row, ...]:
      return tuple(column[place] for place in places) if column else ()

    return Outputs(
      self.kind, chosen(self.texts), chosen(self.plans), chosen(self.strings)
    )


def read_outputs(
  path: str | os.PathLike[str], games: Sequence[Game]
) -> Outputs:
  """Texts, plans or relations about games, one for every game, in order.

  Texts: `.txt`, one a line; `.jsonl` with `prediction`, `summary` or `text`, a
  string or a list of strings. Plans: `.jsonl` with `plan`, a list of sentences
  of `[entity, value, type]`. Relations, as the field's extractors write them: a
  name ending in `tuples.txt`, lines of `entity|value|type`, a blank line
  before every game; or a JSON list of lists of objects with `entity_text`,
  `value_text` and `type`.
  """
  path = Path(path)
  if '.json' in path.suffixes:
    return _tuples(_read_records(path, games), games)
  if path.name.endswith('tuples.txt'):
    return _tuples(_read_tuples(path, games), games)
  lines = _lines(path)
  if '.txt' in path.suffixes:
    if len(lines) != len(games):
      # As `stepwise report` prints them: a blank line between two.
      lines = [line for line in lines if line.strip()]
    _check_count(path, lines, games, 'texts')
    return Outputs('text', texts=tuple(lines))
  rows = _parse_all(path, lines, json.loads)
  _check_count(path, rows, games, 'lines')
  if isinstance(rows[0], dict) and 'plan' in rows[0]:
    return Outputs('plan', plans=tuple(_parse_all(path, rows, parse_plan)))
  return Outputs('text', texts=tuple(_parse_all(path, rows, _text)))


def parse_tuple(line: str, game: Game) -> Relation:
  """A relation of the field's `entity|value|type`, in the table's words.

  Numbers become digits and names those of the table, if it has them.
  """
  return _in_table_words(_split(line), game)


def _split(line: str) -> Relation:
  parts = line.split('|')
  if len(parts) != 3:
    raise InputError(f'{line!r:.60} is not entity|value|type.')
  return Relation(*(part.strip() for part in parts))


def _in_table_words(strings: Relation, game: Game) -> Relation:
  entity, value, type = strings
  number = parse_number(value)
  return Relation(
    find_entity(entity, game) or entity,
    value if number is None else str(number),
    type,
  )


def _tuples(
  strings: Sequence[Sequence[Relation]], games: Sequence[Game]
) -> Outputs:
  plans = [
    (tuple(_in_table_words(relation, game) for relation in relations),)
    for relations, game in zip(strings, games, strict=True)
  ]
  return Outputs('tuples', (), tuple(plans), tuple(map(tuple, strings)))


def _read_tuples(path: Path, games: Sequence[Game]) -> list[list[Relation]]:
  blocks: list[list[tuple[int, str]]] = []
  for number, line in enumerate(_lines(path), 1):
    if not line.strip():
      blocks.append([])
    elif not blocks:
      raise InputError(f'{path}:{number}: a blank line must open every game.')
    else:
      blocks[-1].append((number, line))
  _check_count(path, blocks, games, 'games')
  return [
    [_parse(path, number, line, _split) for number, line in block]
    for block in blocks
  ]


def _read_records(path: Path, games: Sequence[Game]) -> list[list[Relation]]:
  try:
    rows = json.loads('\n'.join(_lines(path)))
  except json.JSONDecodeError as error:
    raise InputError(f'{path}: not JSON: {error}') from error
  if not isinstance(rows, list):
    raise InputError(f'{path}: a list with a list for every game is needed.')
  _check_count(path, rows, games, 'games')
  return [_parse_all(path, row, _record) for row in rows]


def _record(fields: Any) -> Relation:
  try:
    parts = [fields[key] for key in ('entity_text', 'value_text', 'type')]
    return _split('|'.join(parts))
  except (KeyError, TypeError) as error:
    raise InputError(f'{fields!r:.60} is not a relation: {error}.') from error


def _text(row: Any) -> str:
  fields = row if isinstance(row, dict) else {}
  value = next((fields[key] for key in TEXT_KEYS if key in fields), None)
  parts = [value] if isinstance(value, str) else value
  if not isinstance(parts, list) or not all(
    isinstance(part, str) for part in parts
  ):
    raise InputError(
      f"an object with 'plan' or one of {TEXT_KEYS} is needed, the latter a "
      'string or a list of strings.'
    )
  return ' '.join(parts)


def _lines(path: Path) -> list[str]:
  with open_for_reading(path) as stream:
    content = stream.read()
  try:
    lines = content.decode().replace('\r\n', '\n').split('\n')
  except UnicodeDecodeError as error:
    raise InputError(f'{path}: not UTF-8 text: {error}.') from error
  return lines[:-1] if lines[-1] == '' else lines


def _parse(
  path: Path, number: int, value: Any, parser: Callable[[Any], Row]
) -> Row:
  try:
    return parser(value)
  except (InputError, json.JSONDecodeError) as error:
    raise InputError(f'{path}:{number}: {error}') from error


def _parse_all(
  path: Path, values: Sequence[Any], parser: Callable[[Any], Row]
) -> list[Row]:
  return [_parse(path, i, value, parser) for i, value in enumerate(values, 1)]


def _check_count(
  path: Path, rows: Sequence[Any], games: Sequence[Game], name: str
) -> None:
  if len(rows) != len(games):
    raise InputError(
      f'{path}: {len(rows)} {name} for {len(games)} games; one for every game '
      'is needed, in the same order.'
    )
