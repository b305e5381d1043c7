"""A report of a game: the plan, the text, and which entry is where."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from stepwise.extraction import (
  lookup_relations,
  planned_sentences,
  read_sentences,
  sentence_tokens,
)
from stepwise.realization._check import check_text
from stepwise.realization._realizer import Authored, Realizer, authored_texts
from stepwise.rotowire import NAME_TYPES, ROLE_TYPES, Game
from stepwise.tables import Plan, Relation

_NAMES = ('TEAM-CITY', 'TEAM-NAME')
# Reasons to be unsure begin so.
_UNSAID = 'not found: '
_FOREIGN = 'not in the table: '


@dataclass(frozen=True)
class PlacedEntry:
  """An entry of a plan in its sentence.

  Attributes:
    relation: the entry.
    stated: whether the sentence says so, as far as the extractor of oracle
      plans can tell; None if it does not look for entries of this type, or
      for what somebody has none of.
  """

  relation: Relation
  stated: bool | None


@dataclass(frozen=True)
class ReportSentence:
  """What was written for one sentence of the plan; it may be nothing.

  Attributes:
    text: of it.
    entries: of the plan, and whether the text says them.
    realizer: who wrote it; a realizer may leave sentences to the templates.
    added: the end of the text that says no entry, but how the game went; by
      templates. It may be empty.
    unsure: what a reader should check, in words; empty if the text says all
      entries and the table supports whatever it says.
  """

  text: str
  entries: tuple[PlacedEntry, ...]
  realizer: str = ''
  added: str = ''
  unsure: tuple[str, ...] = ()


@dataclass(frozen=True)
class GameReport:
  """A written game, sentence by sentence of its plan."""

  game: Game
  planner: str
  realizer: str
  sentences: tuple[ReportSentence, ...]

  @property
  def text(self) -> str:
    return ' '.join(s.text for s in self.sentences if s.text)

  @property
  def warnings(self) -> tuple[str, ...]:
    """Planned and not said, said and not in the table: a sentence of each."""
    return (*self._unsaid(), *self._foreign())

  def _foreign(self) -> Iterator[str]:
    found = [
      reason.removeprefix(_FOREIGN)
      for sentence in self.sentences
      for reason in sentence.unsure
      if reason.startswith(_FOREIGN)
    ]
    if found:
      yield (
        f'{self.realizer} wrote what the table does not have, {len(found)} '
        f'times, first {found[0]}: check the text.'
      )

  def _unsaid(self) -> Iterator[str]:
    entries = [entry for each in self.sentences for entry in each.entries]
    unsaid = [
      entry.relation
      for entry in entries
      if entry.stated is False and not self._is_named(entry.relation)
    ]
    if unsaid:
      yield (
        f'{len(unsaid)} of {len(entries)} planned entries were not found in '
        f'what {self.realizer} wrote, first {_in_words(unsaid[0])}: check the '
        'text.'
      )

  def _is_named(self, relation: Relation) -> bool:
    """Whole names of teams are for the opening, wherever they are planned."""
    return relation.type in _NAMES and relation.value in self.text

  def to_dict(self) -> dict[str, Any]:
    """Plain values for JSON; `plan` is in the layout of files of plans."""
    return {
      'id': self.game.id,
      'planner': self.planner,
      'realizer': self.realizer,
      'text': self.text,
      'warnings': list(self.warnings),
      'plan': [[list(e.relation) for e in s.entries] for s in self.sentences],
      'sentences': [
        {
          'text': sentence.text,
          'realizer': sentence.realizer if sentence.text else None,
          'added': sentence.added,
          'unsure': list(sentence.unsure),
          'entries': [
            {**entry.relation._asdict(), 'stated': entry.stated}
            for entry in sentence.entries
          ],
        }
        for sentence in self.sentences
      ],
    }


def write_report(
  game: Game, plan: Plan, realizer: Realizer, *, planner: str = 'given'
) -> GameReport:
  """Realizes a plan and finds its entries in the text.

  Args:
    game: with the table.
    plan: of entries that the table has.
    realizer: writes.
    planner: who made the plan.
  """
  written = authored_texts(realizer, game, plan)
  texts = [each.text for each in written]
  sentences = [
    _sentence(game, entries, each, found)
    for entries, each, found in zip(
      plan, written, _stated(game, texts), strict=True
    )
  ]
  return GameReport(game, planner, realizer.name, tuple(sentences))


def _sentence(
  game: Game,
  relations: Sequence[Relation],
  written: Authored,
  found: set[Relation],
) -> ReportSentence:
  entries = tuple(_placed(relation, found) for relation in relations)
  unsaid = (
    f'{_UNSAID}{_in_words(entry.relation)}'
    for entry in entries
    # A name may be for another sentence to say.
    if entry.stated is False and entry.relation.type not in NAME_TYPES
  )
  return ReportSentence(
    *(written.text, entries, written.realizer, written.added),
    unsure=(*unsaid, *_unsupported(game, written.text)),
  )


def _unsupported(game: Game, text: str) -> Iterator[str]:
  """What a text says that the table does not."""
  for found in lookup_relations(read_sentences(text, game), game):
    if not found.supported:
      yield f'{_FOREIGN}{_in_words(found.relation)}'
  for mistake in check_text(text, game):
    yield f'{_FOREIGN}{mistake.kind} {mistake.words}'


def _in_words(relation: Relation) -> str:
  return ' '.join(relation)


def _placed(relation: Relation, found: set[Relation]) -> PlacedEntry:
  looked_for = relation.type not in ROLE_TYPES and relation.value != '0'
  return PlacedEntry(relation, relation in found if looked_for else None)


def _stated(game: Game, texts: Sequence[str]) -> list[set[Relation]]:
  """What every text states; a text may be several sentences, or none."""
  counts = [len(sentence_tokens(text)) for text in texts]
  planned = planned_sentences(game, text=' '.join(texts))
  if len(planned) != sum(counts):
    # One does not end with a stop: each is read alone, pronouns are lost.
    planned = [
      pair for text in texts for pair in planned_sentences(game, text=text)
    ]
  found, start = [], 0
  for count in counts:
    part = planned[start : start + count]
    found.append({relation for _, relations in part for relation in relations})
    start += count
  return found
