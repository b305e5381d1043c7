"""From a game to its content plan: table, model and search in one call."""

from stepwise.planning._consensus import inclusion, revise
from stepwise.planning._page import plan_page
from stepwise.planning._planner import (
  OPTIONS_FILE,
  Planner,
  PlannerOptions,
  PlanTrace,
  bundled_planner,
  default_options,
  load_planner,
)

__all__ = [
  'OPTIONS_FILE',
  'PlanTrace',
  'Planner',
  'PlannerOptions',
  'bundled_planner',
  'default_options',
  'inclusion',
  'load_planner',
  'plan_page',
  'revise',
]
