"""Stepwise content extraction with structured transformers.

>>> import stepwise
>>> stepwise.summarize('It rained. We stayed in.', sentences=1).text
'It rained.'
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
  from stepwise.summarization import summarize

__version__ = '0.1.0'
__all__ = ['__version__', 'summarize']


def __getattr__(name: str) -> Any:
  # JAX takes a second to import: wait until it is needed.
  if name == 'summarize':
    from stepwise.summarization import summarize

    return summarize
  raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
