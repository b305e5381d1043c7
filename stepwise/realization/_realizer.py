"""Realizers: plans in, sentences out, whoever writes them."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

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


def check_plans(games: Sequence[Game], plans: Sequence[Plan]) -> None:
  """Refuses plans that are not of these games."""
  if not games or len(games) != len(plans):
    raise InputError(
      f'{len(games)} games and {len(plans)} plans: as many of each are needed, '
      'and at least one.'
    )
  for game, plan in zip(games, plans, strict=True):
    check_plan(plan, game)
