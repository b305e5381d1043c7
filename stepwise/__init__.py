"""Stepwise content extraction with structured transformers.

>>> import stepwise
>>> text = 'It rained. We stayed in.'
>>> stepwise.summarize(text, sentences=1, model='lead').text
'It rained.'
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
  from stepwise.checkpoints import load_bundle as load
  from stepwise.summarization import summarize, summarize_many
  from stepwise.tables import plan_table as plan
  from stepwise.tables import report_table as report

__version__ = '0.1.0'
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
  if name == 'load':
    from stepwise.checkpoints import load_bundle

    return load_bundle
  if name in ('summarize', 'summarize_many'):
    from stepwise import summarization

    return getattr(summarization, name)
  if name in ('plan', 'report'):
    from stepwise import tables

    return getattr(tables, f'{name}_table')
  raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
