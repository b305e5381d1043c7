"""What the realizer reads to write a sentence.

As in the paper: the sentence before, a separator, the entries to say, another
separator, and context that a plan may not have. The separators are reserved
ids, not text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from stepwise._errors import InputError
from stepwise.data import Tokenizer
from stepwise.extraction import tokenize
from stepwise.rotowire import (
  DATE,
  MATCH,
  PLAYER_TEAM,
  START_POSITION,
  Game,
  game_table,
)
from stepwise.tables import Plan, Relation

# Of both teams, in this order, whatever the plan says.
TEAM_CONTEXT = (
  *('TEAM-NAME', 'TEAM-CITY', 'TEAM-PTS', 'TEAM-WINS', 'TEAM-LOSSES'),
  'TEAM-SIDE',
)
# Of every player of the sentence.
PLAYER_CONTEXT = (START_POSITION, PLAYER_TEAM)


@dataclass(frozen=True)
class InputFormat:
  """What a realizer was trained to read.

  Attributes:
    context: as in the paper; without it inputs are a third as long.
  """

  context: bool = True


class SentenceInput(NamedTuple):
  """The parts of an input; `context` is empty if the format has none."""

  previous: str
  entries: tuple[str, ...]
  context: tuple[str, ...]

  @property
  def text(self) -> str:
    """As the paper writes it, with literal separators."""
    parts = [self.previous, '<BEG>', *self.entries]
    if self.context:
      parts += ['<CONTEXT>', *self.context]
    return ' '.join(parts)


class GameInputs:
  """Makes the inputs of one game, sentence by sentence."""

  def __init__(self, game: Game, format: InputFormat = InputFormat()):
    table = game_table(game, max_units=None)
    self._format = format
    self._known = table.relations
    self._texts = {
      (e.relation.entity, e.relation.type): e.text for e in table.entries
    }
    self._teams = [team.entity for team in game.teams]
    self._players = {player.entity for player in game.players}

  def __call__(
    self, sentence: Sequence[Relation], previous: str = ''
  ) -> SentenceInput:
    """The input of a sentence whose entries the game has.

    Args:
      sentence: its part of a plan that `check_plan` accepts.
      previous: the sentence written before, empty for the first.
    """
    return SentenceInput(
      # Training has tokens with spaces between them; what was written may not.
      previous=' '.join(tokenize(previous)),
      entries=tuple(self._texts[r.entity, r.type] for r in sentence),
      context=self._context(sentence) if self._format.context else (),
    )

  def known(self, sentence: Sequence[Relation]) -> tuple[Relation, ...]:
    """Without entries that the table lacks, as a surname that is N/A."""
    return tuple(relation for relation in sentence if relation in self._known)

  def _context(self, sentence: Sequence[Relation]) -> tuple[str, ...]:
    named = dict.fromkeys(r.entity for r in sentence)
    players = [entity for entity in named if entity in self._players]
    wanted = [
      (MATCH, DATE),
      *((team, type) for team in self._teams for type in TEAM_CONTEXT),
      *((player, type) for player in players for type in PLAYER_CONTEXT),
    ]
    # A substitute has no starting position.
    return tuple(self._texts[key] for key in wanted if key in self._texts)


def encode_inputs(
  inputs: Sequence[SentenceInput], tokenizer: Tokenizer
) -> list[list[int]]:
  """Ids of inputs, with reserved ids for the two separators."""
  texts = list(
    chain.from_iterable(
      (part.previous, ' '.join(part.entries), ' '.join(part.context))
      for part in inputs
    )
  )
  ids = iter(tokenizer.encode_units(texts))
  encoded = []
  for part in inputs:
    previous, entries, context = next(ids), next(ids), next(ids)
    encoded.append(
      [
        *(previous if part.previous else ()),
        tokenizer.beg,
        *entries,
        *([tokenizer.context, *context] if part.context else ()),
      ]
    )
  return encoded


def known_entries(plan: Plan, game: Game) -> Plan:
  """An oracle plan without entries that the table lacks.

  Sentences that lose all their entries go too.
  """
  known = map(GameInputs(game).known, plan)
  return tuple(sentence for sentence in known if sentence)


def check_plan(plan: Plan, game: Game) -> None:
  """Refuses a plan that says nothing, or what is not in the game's table."""
  if not plan:
    raise InputError(
      'the plan is empty: one sentence with one entry is the least.'
    )
  table = game_table(game, max_units=None)
  values = {(r.entity, r.type): r.value for r in table.relations}
  entities = {entity for entity, _ in values}
  for number, sentence in enumerate(plan, start=1):
    if not sentence:
      raise InputError(f'sentence {number} of the plan has no entries.')
    for relation in sentence:
      reason = _unknown(relation, values, entities)
      if reason:
        raise InputError(f'sentence {number} of the plan: {reason}')


def _unknown(
  relation: Relation, values: dict[tuple[str, str], str], entities: set[str]
) -> str | None:
  entity, value, type = relation
  if entity not in entities:
    return (
      f'the game has no team or player {entity!r}; there are '
      f'{", ".join(sorted(entities))}.'
    )
  if (entity, type) not in values:
    known = sorted(known for other, known in values if other == entity)
    return f'{entity!r} has no entry {type!r}; there are {", ".join(known)}.'
  if values[entity, type] != value:
    return (
      f'{type} of {entity!r} is {values[entity, type]!r} in the game, not '
      f'{value!r}.'
    )
  return None
