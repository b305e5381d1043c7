"""`stepwise params`: how many parameters a configuration has."""

from typing import Annotated

import typer


def params(
  name: Annotated[
    str | None, typer.Argument(help='A configuration; all of them if left out.')
  ] = None,
) -> None:
  """Counts the parameters of a configuration, without allocating them."""
  from stepwise.models import CONFIGS, count_params

  if name is not None:
    print(count_params(name))
    return
  width = max(map(len, CONFIGS))
  for known in CONFIGS:
    print(f'{known:{width}} {count_params(known):>12,}')
