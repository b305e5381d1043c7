"""The option `--extractor` of verbs that read texts about games."""

from typing import TYPE_CHECKING, Annotated

import typer

from stepwise._errors import InputError

if TYPE_CHECKING:
  from stepwise.rotowire import Extractor

ExtractorName = Annotated[
  str,
  typer.Option(
    '--extractor',
    help='What finds relations in texts: lookup, conv or ensemble.',
  ),
]


def find_extractor(name: str) -> 'Extractor':
  """The extractor of that name; JAX is loaded only for a learned one."""
  from stepwise.rotowire import EXTRACTORS

  if name not in EXTRACTORS:
    import stepwise.extraction  # noqa: F401, adds the learned ones.
  if name not in EXTRACTORS:
    raise InputError(
      f'extractor is {name!r}; known ones are {sorted(EXTRACTORS)}.'
    )
  return EXTRACTORS[name]
