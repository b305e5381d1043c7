"""The option `--extractor` of verbs that read texts about games."""

from typing import Annotated

import typer

ExtractorName = Annotated[
  str,
  typer.Option(
    '--extractor',
    help='What finds relations in texts: lookup, conv or ensemble.',
  ),
]
