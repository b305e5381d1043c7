"""Pages to look at: units, and the steps in which they were chosen."""

from stepwise.pages._page import Page, PageStep, PageUnit, render_page

__all__ = ['Page', 'PageStep', 'PageUnit', 'render_page']
