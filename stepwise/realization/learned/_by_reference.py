"""Sentences by reference: which of those that a search finds may be written.

One that says all of its entries, of the right people, and nothing that the
table does not support. If there is none, the template writes the sentence.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from stepwise.extraction import lookup_relations, read_sentences
from stepwise.realization._check import check_text
from stepwise.realization._claims import Claims
from stepwise.realization._inputs import GameInputs, InputFormat, SentenceInput
from stepwise.realization._realizer import Authored
from stepwise.realization._slots import Piece, put_in
from stepwise.realization._templates import finish_report
from stepwise.realization.learned._text import join_tokens
from stepwise.rotowire import DATE, NAME_TYPES, ROLE_TYPES, Game
from stepwise.tables import Plan, Relation

Pieces = tuple[Piece, ...]


class ReferenceWriter:
  """A report while sentences are chosen for it."""

  def __init__(self, game: Game, plan: Plan, format: InputFormat):
    self._game = game
    self._plan = plan
    self._inputs = GameInputs(game, format)
    self._claims = Claims(game)
    self._teams = {player.entity: player.team for player in game.players}

  def inputs(self) -> Iterator[tuple[int, SentenceInput, int]]:
    """Sentences that can be written so: number, input, how many slots."""
    for number, sentence in enumerate(self._plan):
      if any(_is_wanted(relation) for relation in sentence):
        previous = 'something' if number else ''
        slots = len(self._inputs.slots(sentence))
        yield number, self._inputs(sentence, previous), slots

  def write(
    self, found: dict[int, Sequence[Pieces]], name: str
  ) -> list[Authored]:
    """The report.

    Args:
      found: sentences by number, best first.
      name: of the realizer that found them.
    """
    named: set[str] = set()
    frames: Counter[Pieces] = Counter()
    texts: list[str | None] = []
    last = ''
    for number, sentence in enumerate(self._plan):
      slots = self._inputs.slots(sentence)
      team = self._team_of(sentence)
      fitting = [
        (
          team != last and not _names(team, pieces, slots),
          frames[_frame(pieces)],
          place,
          pieces,
          text,
        )
        for place, pieces in enumerate(found.get(number, ()))
        if (text := self._text(sentence, pieces, slots, named))
      ]
      # One that tells of whom it speaks now, in words that the report does not
      # have yet; or else the likeliest.
      *_, pieces, text = min(fitting, default=((), None))
      frames[_frame(pieces)] += 1
      texts.append(text)
      named |= {relation.entity for relation in sentence}
      last = team
    report = finish_report(self._game, self._plan, texts, name)
    whole = ' '.join(each.text for each in report if each.text)
    if check_text(whole, self._game):
      # Beside its neighbours a sentence may read otherwise than alone.
      none = [None] * len(texts)
      return finish_report(self._game, self._plan, none, name)
    return report

  def _team_of(self, sentence: Sequence[Relation]) -> str:
    """The team of whoever is first spoken of."""
    entity = sentence[0].entity
    return self._teams.get(entity, entity)

  def _text(
    self,
    sentence: Sequence[Relation],
    pieces: Pieces,
    slots: Sequence[Relation],
    named: set[str],
  ) -> str | None:
    """The sentence as people read it; None if it may not be written."""
    wanted = {relation for relation in sentence if _is_wanted(relation)}
    said = [slots[piece] for piece in pieces if isinstance(piece, int)]
    values = [relation for relation in said if relation.type not in NAME_TYPES]
    people = {r.entity for r in said if r.type in NAME_TYPES}
    if (
      not wanted <= set(values)
      or len(set(values)) < len(values)
      or not {relation.entity for relation in values} <= people
      or not _has_date(sentence, said)
      or not self._claims.support(pieces, slots)
    ):
      return None
    text = join_tokens(put_in(pieces, slots, self._game, named))
    return text if self._is_read(text, wanted) else None

  def _is_read(self, text: str, wanted: Iterable[Relation]) -> bool:
    """Whether a reader finds the entries, and no other claim."""
    sentences = read_sentences(text, self._game)
    found = lookup_relations(sentences, self._game)
    stated = {each.relation for each in found}
    return (
      len(sentences) == 1
      and all(each.supported for each in found)
      and stated >= {r for r in wanted if r.type not in ROLE_TYPES}
      and not check_text(text, self._game)
    )


def _is_wanted(relation: Relation) -> bool:
  """Whether a sentence is not complete without it."""
  return (
    relation.type not in NAME_TYPES
    and relation.value.isdecimal()
    and relation.value != '0'
  )


def _has_date(sentence: Sequence[Relation], said: Sequence[Relation]) -> bool:
  dates = {relation for relation in sentence if relation.type == DATE}
  return dates <= set(said)


def _names(team: str, pieces: Pieces, slots: Sequence[Relation]) -> bool:
  return any(
    isinstance(piece, int) and slots[piece].entity == team for piece in pieces
  )


def _frame(pieces: Pieces) -> Pieces:
  """The words alone."""
  return tuple(piece for piece in pieces if isinstance(piece, str))
