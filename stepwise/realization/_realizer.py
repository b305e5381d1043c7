"""Realizers: plans in, sentences out, whoever writes them."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from stepwise._errors import InputError
from stepwise.realization._inputs import check_plan
from stepwise.rotowire import Game
from stepwise.tables import Plan

Sentences = tuple[str, ...]


@runtime_checkable
class Realizer(Protocol):
  """Writes one sentence for every sentence of a plan."""

  @property
  def name(self) -> str: ...

  def realize(
    self, games: Sequence[Game], plans: Sequence[Plan]
  ) -> list[Sentences]: ...


class Authored(NamedTuple):
  """A text for a sentence of a plan, and who wrote it.

  Attributes:
    said: the text for its entries; it may be empty.
    added: what the table tells besides, without a number; by templates.
    realizer: who wrote what is said.
  """

  said: str
  added: str
  realizer: str

  @property
  def text(self) -> str:
    return ' '.join(filter(None, (self.said, self.added)))


@runtime_checkable
class AuthoredRealizer(Realizer, Protocol):
  """Tells who wrote what, as it may leave sentences to another realizer."""

  def realize_authored(
    self, games: Sequence[Game], plans: Sequence[Plan]
  ) -> list[list[Authored]]: ...


def plain_texts(reports: Sequence[Sequence[Authored]]) -> list[Sentences]:
  """The texts alone, whoever wrote them."""
  return [tuple(each.text for each in texts) for texts in reports]


def authored_texts(
  realizer: Realizer, game: Game, plan: Plan
) -> list[Authored]:
  """What a realizer writes, by itself unless it tells otherwise."""
  if isinstance(realizer, AuthoredRealizer):
    [texts] = realizer.realize_authored([game], [plan])
    return texts
  [sentences] = realizer.realize([game], [plan])
  return [Authored(text, '', realizer.name) for text in sentences]


def check_plans(games: Sequence[Game], plans: Sequence[Plan]) -> None:
  """Refuses plans that are not of these games."""
  if not games or len(games) != len(plans):
    raise InputError(
      f'{len(games)} games and {len(plans)} plans: as many of each are needed, '
      'and at least one.'
    )
  for game, plan in zip(games, plans, strict=True):
    check_plan(plan, game)
