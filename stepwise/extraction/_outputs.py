"""Files of generated texts, plans and extracted relations, game by game."""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
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

  Plans of extracted relations (`tuples`) have one sentence.
  """

  kind: str
  texts: tuple[str, ...] = ()
  plans: tuple[Plan, ...] = ()

  def after(self, games: int) -> 'Outputs':
    """Without those about the first games."""
    return Outputs(self.kind, self.texts[games:], self.plans[games:])


def read_outputs(
  path: str | os.PathLike[str], games: Sequence[Game]
) -> Outputs:
  """Texts, plans or relations about games, one for every game, in order.

  Texts: `.txt`, one a line; `.jsonl` with `prediction`, `summary` or `text`, a
  string or a list of strings. Plans: `.jsonl` with `plan`, a list of sentences
  of `[entity, value, type]`. Relations, as the field's extractors write them: a
  name ending in `tuples.txt`, lines of `entity|value|type`, a blank line
  before every game.
  """
  path = Path(path)
  if path.name.endswith('tuples.txt'):
    return Outputs('tuples', plans=tuple(_read_tuples(path, games)))
  lines = _lines(path)
  if '.txt' in path.suffixes:
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
  parts = line.split('|')
  if len(parts) != 3:
    raise InputError(f'{line!r:.60} is not entity|value|type.')
  entity, value, type = (part.strip() for part in parts)
  number = parse_number(value)
  return Relation(
    find_entity(entity, game) or entity,
    value if number is None else str(number),
    type,
  )


def _read_tuples(path: Path, games: Sequence[Game]) -> list[Plan]:
  blocks: list[list[tuple[int, str]]] = []
  for number, line in enumerate(_lines(path), 1):
    if not line.strip():
      blocks.append([])
    elif not blocks:
      raise InputError(f'{path}:{number}: a blank line must open every game.')
    else:
      blocks[-1].append((number, line))
  _check_count(path, blocks, games, 'games')
  plans = []
  for block, game in zip(blocks, games, strict=True):
    parser = partial(parse_tuple, game=game)
    relations = [_parse(path, number, line, parser) for number, line in block]
    plans.append((tuple(relations),))
  return plans


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
