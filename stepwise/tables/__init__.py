"""Any table as units: schema, entries, plans, records, masks.

Pure Python and numpy: no JAX, no TensorFlow.
"""

from stepwise.tables._calendar import weekday
from stepwise.tables._plans import (
  Plan,
  PlanMasks,
  parse_plan,
  plan_from_units,
  plan_masks,
  plan_to_json,
  plan_units,
  table_record,
)
from stepwise.tables._records import PlanRecordReport, plan_record
from stepwise.tables._schema import Kind, Schema, load_schema
from stepwise.tables._table import (
  MAX_UNITS,
  SPECIAL_UNITS,
  Entity,
  Entry,
  Relation,
  Table,
  make_table,
  read_entities,
)

__all__ = [
  'MAX_UNITS',
  'SPECIAL_UNITS',
  'Entity',
  'Entry',
  'Kind',
  'Plan',
  'PlanMasks',
  'PlanRecordReport',
  'Relation',
  'Schema',
  'Table',
  'load_schema',
  'make_table',
  'parse_plan',
  'plan_from_units',
  'plan_masks',
  'plan_record',
  'plan_to_json',
  'plan_units',
  'read_entities',
  'table_record',
  'weekday',
]
