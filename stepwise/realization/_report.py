"""A report of a game: the plan, the text, and which entry is where."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stepwise.extraction import planned_sentences, sentence_tokens
from stepwise.realization._realizer import Realizer
from stepwise.rotowire import ROLE_TYPES, Game
from stepwise.tables import Plan, Relation

_NAMES = ('TEAM-CITY', 'TEAM-NAME')


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
  """What was written for one sentence of the plan; it may be nothing."""

  text: str
  entries: tuple[PlacedEntry, ...]


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
    """What the text does not say although it was planned, in a sentence."""
    entries = [entry for each in self.sentences for entry in each.entries]
    unsaid = [
      entry.relation
      for entry in entries
      if entry.stated is False and not self._is_named(entry.relation)
    ]
    if not unsaid:
      return ()
    first = ' '.join(map(str, unsaid[0]))
    return (
      f'{len(unsaid)} of {len(entries)} planned entries were not found in what '
      f'{self.realizer} wrote, first {first}: check the text.',
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
  [texts] = realizer.realize([game], [plan])
  stated = _stated(game, texts)
  return GameReport(
    game,
    planner,
    realizer.name,
    tuple(
      ReportSentence(text, tuple(_placed(r, found) for r in sentence))
      for sentence, text, found in zip(plan, texts, stated, strict=True)
    ),
  )


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
