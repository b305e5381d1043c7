"""Drafts of template files, from what is guessed of a table."""

import json
from collections.abc import Iterator, Sequence, Set

from stepwise.tables._facts import Facts, Measure
from stepwise.tables._salience import main_types
from stepwise.tables._sheets import Sheet
from stepwise.tables._tabulate import RANKS, tabulate
from stepwise.tables._words import capitalised

_HEAD = """\
# What is known of a table. Everything here was guessed: change what is wrong.
# A column may have a `say`, what a text says of it: say = 'sold {value}'.
"""


def draft_templates(sheets: Sequence[Sheet], name: str = '') -> str:
  """A template file with which a table is read as it is read without.

  Args:
    sheets: one, or several related ones.
    name: of the schema; default: that of the first table.
  """
  table = tabulate(sheets)
  main = main_types(table)
  name = name or sheets[0].name
  lines = [_HEAD, f'name = {_text(name)}']
  lines.append(f'title = {_text(capitalised(name))}')
  lines.append(f'ranks = {_text(RANKS)}')
  for facts in table.facts:
    lines += _kind(facts, main[facts.kind])
  return '\n'.join(lines) + '\n'


def _kind(facts: Facts, main: Set[str]) -> Iterator[str]:
  section = f'kinds.{_text(facts.kind)}'
  yield f'\n[{section}]'
  yield f'noun = {_text(facts.noun)}'
  yield f'plural = {_text(facts.plural)}'
  if facts.entity:
    yield f'entity = {_text(facts.entity)}'
  if facts.period:
    yield f'period = {_text(facts.period)}'
  for measure in facts.measures:
    yield from _column(measure, section, measure.name in main)


def _column(measure: Measure, section: str, main: bool) -> Iterator[str]:
  yield f'\n[{section}.columns.{_text(measure.name)}]'
  yield f'label = {_text(measure.label)}'
  unit = measure.style.prefix or measure.style.suffix.strip()
  if unit:
    yield f'unit = {_text(unit)}'
  yield f'better = {_text(measure.column.better)}'
  own = ['total'] if measure.additive else ['mean']
  own += ['share'] if measure.shared else []
  yield f'aggregates = {json.dumps([*own, "change", "growth"])}'
  if main:
    yield 'main = true'


def _text(text: str) -> str:
  """A basic string of TOML, which JSON's are too."""
  return json.dumps(text, ensure_ascii=False)
