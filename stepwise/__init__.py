"""Stepwise content extraction with structured transformers.

- `summarize`: a summary of a text, a file or a list of sentences;
  `summarize_many`: summaries of many, one after another.
- `plan` and `report`: what to say of a table, and a text that says it.
- `load`: a trained model, such as `default`, the one of the package.

>>> import stepwise
>>> text = 'It rained. We stayed in.'
>>> print(stepwise.summarize(text, sentences=1, model='lead'))
It rained.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
  from stepwise.summarization import load, summarize, summarize_many
  from stepwise.tables import plan_table as plan
  from stepwise.tables import report_table as report

__version__ = '0.2.0'
__all__ = [
  '__version__',
  'load',
  'plan',
  'report',
  'summarize',
  'summarize_many',
]


def __getattr__(name: str) -> Any:
  # JAX takes a second to import: wait until it is needed.
  if name in ('load', 'summarize', 'summarize_many'):
    from stepwise import summarization

    return getattr(summarization, name)
  if name in ('plan', 'report'):
    from stepwise import tables

    return getattr(tables, f'{name}_table')
  raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


def __dir__() -> list[str]:
  # Not what this file imports for itself.
  return sorted({*globals(), *__all__} - {'Any', 'TYPE_CHECKING'})
