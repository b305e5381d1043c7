"""Pages to look at, all of one shell: one file each, answer first.

`render_page` shows units and the steps in which they were chosen, sentences of
a text or entries of a table; `render_report_page` a text with the table that it
is about. Other pages are built of `tag`, `table`, `line_chart` and
`render_shell`.
"""

from stepwise.pages._charts import Series, line_chart
from stepwise.pages._grid import Cell
from stepwise.pages._html import Html, html, table, tag
from stepwise.pages._report import (
  ReportEntry,
  ReportLine,
  ReportPage,
  render_report_page,
)
from stepwise.pages._shell import (
  SCRIPTS,
  fill,
  read,
  render_shell,
  script_hash,
)
from stepwise.pages._steps import Page, PageStep, PageUnit, render_page

__all__ = [
  'SCRIPTS',
  'Cell',
  'Html',
  'Page',
  'PageStep',
  'PageUnit',
  'ReportEntry',
  'ReportLine',
  'ReportPage',
  'Series',
  'fill',
  'html',
  'line_chart',
  'read',
  'render_page',
  'render_report_page',
  'render_shell',
  'script_hash',
  'table',
  'tag',
]
