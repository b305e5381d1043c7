"""Plans of games without a model: what stands out in a box score."""

from stepwise.rotowire._games import Game, game_table
from stepwise.rotowire._names import with_names
from stepwise.tables import Plan, Wishes, arrange, salient_choices


def salient_plan(game: Game, entries: int | None = None) -> Plan:
  """The most salient entries, with the names of whom they are about.

  Args:
    game: the box score.
    entries: how many at most, names not counted.
  """
  table = game_table(game, max_units=None)
  plan = arrange(salient_choices(table, Wishes(entries)), table)
  return with_names(plan, game)
