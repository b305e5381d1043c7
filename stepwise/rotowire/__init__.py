"""From tables to content plans: Rotowire box scores, and tables like them.

Pure Python and numpy: no JAX, no TensorFlow.
"""

from stepwise.rotowire._baselines import (
  frequent_entry_plans,
  nearest_game_plans,
)
from stepwise.rotowire._candidates import Candidate, find_candidates
from stepwise.rotowire._evaluate import RotowireScores, evaluate_outputs
from stepwise.rotowire._files import (
  Outputs,
  parse_plan,
  parse_tuple,
  plan_to_json,
  read_outputs,
)
from stepwise.rotowire._games import (
  Game,
  Player,
  Team,
  game_table,
  parse_game,
  read_games,
)
from stepwise.rotowire._lookup import Extraction, lookup_relations
from stepwise.rotowire._mentions import (
  Mention,
  Sentence,
  find_entity,
  read_sentences,
)
from stepwise.rotowire._plans import (
  EXTRACTORS,
  NAME_TYPES,
  Extractor,
  Plan,
  PlanMasks,
  oracle_plan,
  plan_example,
  plan_from_units,
  plan_masks,
  plan_units,
  planned_relations,
  planned_sentences,
  stated_relations,
  table_record,
  with_names,
)
from stepwise.rotowire._records import (
  TABLES,
  PlanRecordOptions,
  PlanRecordReport,
  plan_records,
  read_table,
  same_game,
)
from stepwise.rotowire._role_table import role_table
from stepwise.rotowire._schema import (
  Kind,
  Schema,
  load_schema,
  rotowire_schema,
)
from stepwise.rotowire._statistics import (
  PUBLISHED_ENTRIES,
  PUBLISHED_SENTENCES,
  PlanStatistics,
  count_shared,
  plan_statistics,
)
from stepwise.rotowire._table import (
  SPECIAL_UNITS,
  Entity,
  Entry,
  Relation,
  Table,
  make_table,
  read_entities,
)
from stepwise.rotowire._text import (
  Number,
  find_numbers,
  parse_number,
  sentence_tokens,
  tokenize,
)

__all__ = [
  'EXTRACTORS',
  'NAME_TYPES',
  'PUBLISHED_ENTRIES',
  'PUBLISHED_SENTENCES',
  'SPECIAL_UNITS',
  'TABLES',
  'Candidate',
  'Entity',
  'Entry',
  'Extraction',
  'Extractor',
  'Game',
  'Kind',
  'Mention',
  'Number',
  'Outputs',
  'Plan',
  'PlanMasks',
  'PlanRecordOptions',
  'PlanRecordReport',
  'PlanStatistics',
  'Player',
  'Relation',
  'RotowireScores',
  'Schema',
  'Sentence',
  'Table',
  'Team',
  'count_shared',
  'evaluate_outputs',
  'find_candidates',
  'find_entity',
  'find_numbers',
  'frequent_entry_plans',
  'game_table',
  'load_schema',
  'lookup_relations',
  'make_table',
  'nearest_game_plans',
  'oracle_plan',
  'parse_game',
  'parse_number',
  'parse_plan',
  'parse_tuple',
  'plan_example',
  'plan_from_units',
  'plan_masks',
  'plan_records',
  'plan_statistics',
  'plan_to_json',
  'plan_units',
  'planned_relations',
  'planned_sentences',
  'read_entities',
  'read_games',
  'read_outputs',
  'read_sentences',
  'read_table',
  'role_table',
  'rotowire_schema',
  'same_game',
  'sentence_tokens',
  'stated_relations',
  'table_record',
  'tokenize',
  'with_names',
]
