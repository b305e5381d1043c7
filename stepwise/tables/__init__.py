"""Any table as units: schema, entries, plans, records, masks.

Pure Python and numpy: no JAX, no TensorFlow.
"""

from stepwise.tables._align import aligned_plan
from stepwise.tables._calendar import weekday
from stepwise.tables._draft import draft_templates
from stepwise.tables._facts import About, Facts, Measure
from stepwise.tables._page import report_page, table_plan_page
from stepwise.tables._plans import (
  Plan,
  parse_plan,
  plan_from_units,
  plan_to_json,
  plan_units,
  repeatable_units,
  table_record,
)
from stepwise.tables._records import PlanRecordReport, plan_record
from stepwise.tables._report import (
  TablePlan,
  TableReport,
  TableSentence,
  open_table,
  plan_table,
  realize_table,
  report_table,
)
from stepwise.tables._salience import (
  Choice,
  Wishes,
  arrange,
  salient_choices,
)
from stepwise.tables._schema import Column, Kind, Schema, load_schema
from stepwise.tables._sentences import write_sentences
from stepwise.tables._sheets import (
  Sheet,
  make_sheets,
  parse_sheets,
  read_sheets,
)
from stepwise.tables._table import (
  MAX_UNITS,
  SPECIAL_UNITS,
  Entity,
  Entry,
  Relation,
  Table,
  make_table,
)
from stepwise.tables._tabulate import tabulate

__all__ = [
  'MAX_UNITS',
  'SPECIAL_UNITS',
  'About',
  'Choice',
  'Column',
  'Entity',
  'Entry',
  'Facts',
  'Kind',
  'Measure',
  'Plan',
  'PlanRecordReport',
  'Relation',
  'Schema',
  'Sheet',
  'Table',
  'TablePlan',
  'TableReport',
  'TableSentence',
  'Wishes',
  'aligned_plan',
  'arrange',
  'draft_templates',
  'load_schema',
  'make_sheets',
  'make_table',
  'open_table',
  'parse_plan',
  'parse_sheets',
  'plan_from_units',
  'plan_record',
  'plan_table',
  'plan_to_json',
  'plan_units',
  'read_sheets',
  'realize_table',
  'repeatable_units',
  'report_page',
  'report_table',
  'salient_choices',
  'table_plan_page',
  'table_record',
  'tabulate',
  'weekday',
  'write_sentences',
]
