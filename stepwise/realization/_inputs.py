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
from stepwise.realization._cues import Cues, usual_words, words_cue
from stepwise.rotowire import (
  DATE,
  MATCH,
  NAME_TYPES,
  PLAYER_TEAM,
  START_POSITION,
  Game,
  game_table,
)
from stepwise.tables import Entry, Plan, Relation

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
    context: as in the paper; without it inputs are a third as long. With slots
      it is the sentence before, in cues, and about how many words to write.
    slots: values are written by reference. Every entry of the input begins with
      a reserved id, its slot; where a sentence says the entry, the realizer
      writes the slot, and the value takes its place. What it reads are cues
      (`stepwise/realization/_cues.py`), and names of teams that a plan may
      not have; so it can write no name and no number of its own.
  """

  context: bool = True
  slots: bool = False


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
    self._entries = {
      (e.relation.entity, e.relation.type): e for e in table.entries
    }
    self._teams = [team.entity for team in game.teams]
    self._players = {player.entity for player in game.players}
    self._cues = Cues(game)

  def __call__(
    self,
    sentence: Sequence[Relation],
    previous: str = '',
    words: int | None = None,
  ) -> SentenceInput:
    """The input of a sentence whose entries the game has.

    Args:
      sentence: its part of a plan that `check_plan` accepts.
      previous: the sentence written before, empty for the first.
      words: that it should have beside names and numbers, if it is written by
        reference with context; None = as many as people need.
    """
    if self._format.slots:
      slots = self.slots(sentence)
      entries = self._cues.entries(sentence)
      texts = self._cues.texts(slots)
      before = '[LATER]' if previous else '[OPENING]'
      if self._format.context:
        count = usual_words(self.numbers(sentence)) if words is None else words
        before += f' {words_cue(count)} {self._cues.before(previous, slots)}'
      return SentenceInput(
        previous=before.strip(),
        entries=tuple(texts[: len(entries)]),
        context=tuple(texts[len(entries) :]),
      )
    return SentenceInput(
      # Training has tokens with spaces between them; what was written may not.
      previous=' '.join(tokenize(previous)),
      entries=tuple(self._entries[r.entity, r.type].text for r in sentence),
      context=tuple(entry.text for entry in self._context(sentence)),
    )

  def known(self, sentence: Sequence[Relation]) -> tuple[Relation, ...]:
    """Without entries that the table lacks, as a surname that is N/A."""
    return tuple(relation for relation in sentence if relation in self._known)

  def numbers(self, sentence: Sequence[Relation]) -> int:
    """How many entries of a sentence are no names."""
    return sum(r.type not in NAME_TYPES for r in self._cues.entries(sentence))

  def slots(self, sentence: Sequence[Relation]) -> tuple[Relation, ...]:
    """What the slots of its input stand for, those of the context last."""
    return (*self._cues.entries(sentence), *self._cues.context(sentence))

  def _context(self, sentence: Sequence[Relation]) -> list[Entry]:
    if not self._format.context:
      return []
    named = dict.fromkeys(r.entity for r in sentence)
    players = [entity for entity in named if entity in self._players]
    wanted = [
      (MATCH, DATE),
      *((team, type) for team in self._teams for type in TEAM_CONTEXT),
      *((player, type) for player in players for type in PLAYER_CONTEXT),
    ]
    # A substitute has no starting position.
    return [self._entries[key] for key in wanted if key in self._entries]


def encode_inputs(
  inputs: Sequence[SentenceInput], tokenizer: Tokenizer, *, slots: bool = False
) -> list[list[int]]:
  """Ids of inputs, with reserved ids for the two separators, and for slots."""
  parts = [_parts(each, slots) for each in inputs]
  ids = iter(tokenizer.encode_units([text for part in parts for text in part]))
  return [
    _arranged(each, [next(ids) for _ in part], tokenizer, slots)
    for each, part in zip(inputs, parts, strict=True)
  ]


def _parts(given: SentenceInput, slots: bool) -> list[str]:
  """Texts that are encoded by themselves."""
  if slots:
    return [given.previous, *given.entries, *given.context]
  return [given.previous, ' '.join(given.entries), ' '.join(given.context)]


def _arranged(
  given: SentenceInput,
  encoded: Sequence[Sequence[int]],
  tokenizer: Tokenizer,
  slots: bool,
) -> list[int]:
  previous, *told = encoded
  if slots:
    if len(told) > len(tokenizer.slots):
      raise InputError(
        f'a sentence is to be written from {len(told)} entries, but there are'
        f' only {len(tokenizer.slots)} slots: break the sentence.'
      )
    told = [
      [slot, *ids] for slot, ids in zip(tokenizer.slots, told, strict=False)
    ]
  entries = len(given.entries) if slots else 1
  return [
    *(previous if given.previous else ()),
    tokenizer.beg,
    *chain.from_iterable(told[:entries]),
    *([tokenizer.context] if given.context else ()),
    *(chain.from_iterable(told[entries:]) if given.context else ()),
  ]


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
