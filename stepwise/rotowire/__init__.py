"""Basketball: box scores, their templates and roles, and baselines.

Pure Python and numpy: no JAX, no TensorFlow.
"""

from stepwise.rotowire._baselines import (
  frequent_entry_plans,
  nearest_game_plans,
)
from stepwise.rotowire._games import (
  DATE,
  FIRST_NAME,
  MATCH,
  NAME_TYPES,
  PLAYER_TEAM,
  ROLE_TYPES,
  SECOND_NAME,
  START_POSITION,
  TEAM_CITY,
  TEAM_NAME,
  TEAM_SIDE,
  Game,
  Player,
  Team,
  game_table,
  parse_game,
  read_games,
  sample_game,
)
from stepwise.rotowire._names import planned_relations, with_names
from stepwise.rotowire._records import (
  TABLES,
  PlanRecordOptions,
  count_shared,
  plan_records,
  read_table,
  same_game,
)
from stepwise.rotowire._role_table import role_table
from stepwise.rotowire._salience import salient_plan
from stepwise.rotowire._schema import rotowire_schema
from stepwise.rotowire._short_table import short_table, terse_table

__all__ = [
  'DATE',
  'FIRST_NAME',
  'MATCH',
  'NAME_TYPES',
  'PLAYER_TEAM',
  'ROLE_TYPES',
  'SECOND_NAME',
  'START_POSITION',
  'TABLES',
  'TEAM_CITY',
  'TEAM_NAME',
  'TEAM_SIDE',
  'Game',
  'PlanRecordOptions',
  'Player',
  'Team',
  'count_shared',
  'frequent_entry_plans',
  'game_table',
  'nearest_game_plans',
  'parse_game',
  'plan_records',
  'planned_relations',
  'read_games',
  'read_table',
  'role_table',
  'rotowire_schema',
  'salient_plan',
  'same_game',
  'sample_game',
  'short_table',
  'terse_table',
  'with_names',
]
