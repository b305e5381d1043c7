"""Any table as units: schema, entries, plans, records, masks.

Pure Python and numpy: no JAX, no TensorFlow.
"""

from stepwise.tables._align import aligned_plan
from stepwise.tables._calendar import WEEKDAYS, weekday
from stepwise.tables._draft import draft_templates
from stepwise.tables._facts import About, Facts, Measure
from stepwise.tables._form import FORM_FILE, TableForm
from stepwise.tables._many import (
  BulkTables,
  TableItem,
  holds_many,
  read_tables,
  write_tables,
)
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
from stepwise.tables._records import (
  PlanRecordReport,
  pair_records,
  plan_record,
)
from stepwise.tables._report import (
  TablePlan,
  TablePlanner,
  TableReport,
  TableSentence,
  open_table,
  plan_table,
  planned,
  realize_table,
  report_table,
)
from stepwise.tables._salience import (
  Choice,
  Wishes,
  arrange,
  most_salient,
  salient_choices,
)
from stepwise.tables._schema import (
  Column,
  Kind,
  Schema,
  load_schema,
)
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
  'FORM_FILE',
  'MAX_UNITS',
  'SPECIAL_UNITS',
  'WEEKDAYS',
  'About',
  'BulkTables',
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
  'TableForm',
  'TableItem',
  'TablePlan',
  'TablePlanner',
  'TableReport',
  'TableSentence',
  'Wishes',
  'aligned_plan',
  'arrange',
  'draft_templates',
  'holds_many',
  'load_schema',
  'make_sheets',
  'make_table',
  'most_salient',
  'open_table',
  'pair_records',
  'parse_plan',
  'parse_sheets',
  'plan_from_units',
  'plan_record',
  'plan_table',
  'plan_to_json',
  'plan_units',
  'planned',
  'read_sheets',
  'read_tables',
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
  'write_tables',
]
