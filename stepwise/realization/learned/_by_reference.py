"""Sentences by reference: which of those that a search finds may be written.

One that says all of its entries, of the right people, and nothing that the
table does not support. If there is none, the template writes the sentence.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property

from stepwise.extraction import lookup_relations, read_sentences
from stepwise.realization._check import check_text
from stepwise.realization._claims import Claims
from stepwise.realization._cues import usual_words
from stepwise.realization._inputs import GameInputs, InputFormat, SentenceInput
from stepwise.realization._parts import FINITE
from stepwise.realization._realizer import Authored
from stepwise.realization._slots import Piece, put_in
from stepwise.realization._templates import finish_report
from stepwise.realization.learned._text import join_tokens
from stepwise.rotowire import DATE, NAME_TYPES, ROLE_TYPES, TEAM_NAME, Game
from stepwise.tables import Plan, Relation

Pieces = tuple[Piece, ...]
# What is told with the final score.
_RESULT = NAME_TYPES | {'TEAM-PTS', 'TEAM-WINS', 'TEAM-LOSSES'}
# `chipped`, `chipping`: what somebody did.
_VERB = re.compile(r'(\w\w+?)(?:ed|ing)$')
# Words that look so, and are none or say how, not what.
_OTHERS = frozenset(
  {
    *('shooting', 'scoring', 'starting', 'leading', 'blocked', 'visiting'),
    *('winning', 'losing', 'rebounded', 'rebounding', 'showing', 'outing'),
    *('going', 'coming', 'including', 'during', 'defeated', 'outscored'),
  }
)


class ReferenceWriter:
  """A report while sentences are chosen for it."""

  def __init__(self, game: Game, plan: Plan, format: InputFormat):
    self._game = game
    self._plan = plan
    # Sentences to write, and the number of each in the plan.
    self._sentences = [
      (number, part)
      for number, sentence in enumerate(plan)
      for part in _parted(_with_records(sentence), game)
    ]
    self._inputs = GameInputs(game, format)
    self._claims = Claims(game)
    self._teams = {player.entity: player.team for player in game.players}
    self._texts: list[str | None] = []
    self._named: set[str] = set()
    self._frames: Counter[Pieces] = Counter()
    self._verbs: frozenset[str] = frozenset()
    self._last = ''

  def __len__(self) -> int:
    return len(self._sentences)

  def inputs(
    self, number: int, more: Sequence[int] = (0,)
  ) -> Iterator[tuple[SentenceInput, int]]:
    """What is read to write a sentence, and how many slots that has.

    Nothing for a sentence that cannot be written so. Where sentences read the
    ones before, these must have been added.

    Args:
      number: of the sentence.
      more: words than people need, of every input; without context one input.
    """
    _, sentence = self._sentences[number]
    if any(_is_wanted(relation) for relation in sentence):
      slots = len(self._inputs.slots(sentence))
      usual = usual_words(self._inputs.numbers(sentence))
      previous = self._previous(number)
      for words in more:
        yield self._inputs(sentence, previous, max(usual + words, 0)), slots

  def impossible(self, number: int) -> frozenset[str]:
    """Words that no sentence of this number may have."""
    return self._claims.impossible(self._sentences[number][1])

  def _previous(self, number: int) -> str:
    """The sentence before, if it is known who writes it; or else some word."""
    if not 0 < number <= len(self._texts):
      return 'something' if number else ''
    place, _ = self._sentences[number - 1]
    return self._texts[number - 1] or self._template[place] or 'something'

  @cached_property
  def _template(self) -> list[str]:
    """What templates write."""
    none = [None] * len(self._plan)
    return [t.said for t in finish_report(self._game, self._plan, none, '')]

  def add(self, found: Sequence[Pieces]) -> None:
    """Goes on with one of the sentences found, best first, if one is fit."""
    _, sentence = self._sentences[len(self._texts)]
    slots = self._inputs.slots(sentence)
    team = self._team_of(sentence)
    fitting = [
      (
        team != self._last and not _names(team, pieces, slots),
        self._frames[_frame(pieces)],
        _repeats(pieces, self._verbs),
        place,
        pieces,
        text,
      )
      for place, pieces in enumerate(found)
      if (text := self._text(sentence, pieces, slots, self._named))
    ]
    # One that tells of whom it speaks now, in words that the report does not
    # have yet, least of all just before; or else the likeliest.
    unnamed, *_, pieces, text = min(fitting, default=(False, (), None))
    if unnamed and text and self._last:
      text = self._turned(sentence, pieces, text, team)
    self._frames[_frame(pieces)] += 1
    self._verbs = frozenset(_verbs(pieces))
    self._texts.append(text)
    self._named |= {relation.entity for relation in sentence}
    self._last = team

  def _turned(
    self, sentence: Sequence[Relation], pieces: Pieces, text: str, team: str
  ) -> str:
    """A sentence on a player with his team, to which the report turns."""
    names = {each.entity: each.name for each in self._game.teams}
    if not isinstance(pieces[0], int) or team not in names:
      return text
    turned = f'For the {names[team]}, {text}'
    return turned if self._is_read(turned, _wanted(sentence)) else text

  def report(self, name: str) -> list[Authored]:
    """The whole of it.

    Args:
      name: of the realizer that found the sentences.
    """
    texts = [self._whole(number) for number in range(len(self._plan))]
    report = finish_report(self._game, self._plan, texts, name)
    whole = ' '.join(each.text for each in report if each.text)
    if check_text(whole, self._game):
      # Beside its neighbours a sentence may read otherwise than alone.
      none = [None] * len(texts)
      return finish_report(self._game, self._plan, none, name)
    return report

  def _whole(self, number: int) -> str | None:
    """The text of a sentence of the plan, if all parts of it were found."""
    pairs = zip(self._sentences, self._texts, strict=True)
    parts = [text for (place, _), text in pairs if place == number]
    return ' '.join(filter(None, parts)) if all(parts) and parts else None

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
    wanted = _wanted(sentence)
    said = [slots[piece] for piece in pieces if isinstance(piece, int)]
    values = [relation for relation in said if relation.type not in NAME_TYPES]
    people = {r.entity for r in said if r.type in NAME_TYPES}
    if (
      not wanted <= set(values)
      or len(set(values)) < len(values)
      or not {relation.entity for relation in values} <= people
      or not _has_date(sentence, said)
      or not FINITE & _words(pieces)
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


def _parted(
  sentence: tuple[Relation, ...], game: Game
) -> list[tuple[Relation, ...]]:
  """The result, and what else a sentence says of teams; or all of it."""
  teams = {team.entity: team for team in game.teams}
  scores = [r for r in sentence if r.type == 'TEAM-PTS']
  rest = [r for r in sentence if r.type not in _RESULT]
  is_of_teams = all(r.entity in teams or r.type == DATE for r in sentence)
  if len(scores) < len(teams) or not rest or not is_of_teams:
    return [sentence]
  names = [
    Relation(entity, teams[entity].name, TEAM_NAME)
    for entity in dict.fromkeys(r.entity for r in rest)
  ]
  result = tuple(r for r in sentence if r.type in _RESULT)
  return [result, (*names, *rest)]


def _with_records(sentence: Sequence[Relation]) -> tuple[Relation, ...]:
  """Losses follow wins, as people tell them."""
  wins = {r.entity: r for r in sentence if r.type == 'TEAM-WINS'}
  losses = {
    r.entity: r
    for r in sentence
    if r.type == 'TEAM-LOSSES' and r.entity in wins
  }
  moved = {wins[entity]: relation for entity, relation in losses.items()}
  return tuple(
    each
    for relation in sentence
    if relation not in losses.values()
    for each in (relation, moved.get(relation))
    if each
  )


def _wanted(sentence: Sequence[Relation]) -> set[Relation]:
  return {relation for relation in sentence if _is_wanted(relation)}


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


def _words(pieces: Pieces) -> set[str]:
  texts = (piece for piece in pieces if isinstance(piece, str))
  return {word for text in texts for word in text.split()}


def _verbs(pieces: Pieces) -> list[str]:
  """What is done in a sentence, without endings."""
  texts = (piece for piece in pieces if isinstance(piece, str))
  found = (
    _VERB.match(word)
    for text in texts
    for word in text.split()
    if word not in _OTHERS
  )
  return [match[1] for match in found if match]


def _repeats(pieces: Pieces, before: Collection[str]) -> int:
  """Verbs that a sentence has twice, or that the sentence before has."""
  verbs = _verbs(pieces)
  return len(verbs) - len(set(verbs) - set(before))


def _frame(pieces: Pieces) -> Pieces:
  """The words that a sentence begins with, after a name."""
  first = next((piece for piece in pieces if isinstance(piece, str)), '')
  return tuple(first.split()[:3])
