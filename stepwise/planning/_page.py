"""The page of a plan: the entries of a table, chosen step by step."""

from collections.abc import Iterator
from itertools import groupby

from stepwise.pages import Cell, Page, PageStep, PageUnit
from stepwise.planning._planner import PlanTrace
from stepwise.tables import SPECIAL_UNITS

_BREAK, _STOP = (SPECIAL_UNITS.index(name) for name in ('eos', 'eot'))
# What kinds of entities of a game are together.
_SHEETS = {'match': 'Match', 'team': 'Teams', 'player': 'Players'}


def plan_page(
  trace: PlanTrace, title: str, notes: tuple[str, ...] = ()
) -> Page:
  """Everything to show of a plan; `stepwise.pages.render_page` does."""
  entries = trace.table.entries
  chosen = {unit for unit in trace.units if unit >= len(SPECIAL_UNITS)}
  steps = tuple(_steps(trace))
  sentences = len({step.group for step in steps if step.unit is not None})
  lines = list(_lines(trace))
  return Page(
    title,
    f'The planner chose {len(chosen)} of {len(entries)} entries, for'
    f' {sentences} {"sentence" if sentences == 1 else "sentences"}.',
    tuple(
      PageUnit(
        entry.text,
        max(len(entry.text.split()), 1),
        cell=Cell(
          _SHEETS.get(entry.kind, entry.kind.capitalize()),
          entry.relation.entity,
          _title(entry.relation.type),
          entry.relation.value,
        ),
      )
      for entry in entries
    ),
    steps,
    answer_title='Plan',
    copies={
      'Copy text': '\n'.join(lines),
      'Copy Markdown': ''.join(f'{i}. {x}\n' for i, x in enumerate(lines, 1)),
    },
    notes=notes,
    unit_name='entry',
  )


def _title(type: str) -> str:
  """`TEAM-PTS_QTR1` in words that fit a column."""
  return (type.partition('-')[2] or type).replace('_', ' ').lower()


def _lines(trace: PlanTrace) -> Iterator[str]:
  """The entries of every sentence, in the order of the plan."""
  texts = [entry.text for entry in trace.table.entries]
  for is_break, units in groupby(trace.units, lambda unit: unit == _BREAK):
    if not is_break:
      yield '; '.join(texts[unit - len(SPECIAL_UNITS)] for unit in units)


def _steps(trace: PlanTrace) -> Iterator[PageStep]:
  sentence = 1
  for number, unit in enumerate(trace.units):
    if unit == _BREAK:
      step = _step(trace, number, _BREAK, 'ended the sentence', 'full stop')
    else:
      step = _step(trace, number, unit, 'chose')
    yield PageStep(**step, group=f'Sentence {sentence}')
    sentence += unit == _BREAK
  stop = _step(trace, len(trace.units), _STOP, 'the plan ends', 'end')
  yield PageStep(**stop)


def _step(
  trace: PlanTrace, number: int, unit: int, label: str, face: str = ''
) -> dict:
  """Fields of a step; those of probability only if the model read so far."""
  special = len(SPECIAL_UNITS)
  fields = {
    'unit': unit - special if unit >= special else None,
    'label': label,
    'face': face,
  }
  if number >= len(trace.probabilities):
    return fields
  row = trace.probabilities[number].tolist()
  return fields | {
    'probability': row[unit],
    'probabilities': tuple(row[special:]),
    'stop': row[_STOP],
  }
