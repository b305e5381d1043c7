"""Pages to look at, all of one shell: one file each, answer first.

`render_page` shows units and the steps in which they were chosen; other pages
are built of `tag`, `table` and `render_shell`.
"""

from stepwise.pages._html import Html, html, table, tag
from stepwise.pages._shell import render_shell
from stepwise.pages._steps import Page, PageStep, PageUnit, render_page

__all__ = [
  'Html',
  'Page',
  'PageStep',
  'PageUnit',
  'html',
  'render_page',
  'render_shell',
  'table',
  'tag',
]
