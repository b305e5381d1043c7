"""`stepwise models`: the systems of the paper's Table 1."""

from stepwise.cli._options import AsJson
from stepwise.cli._output import print_json


def models(
  as_json: AsJson = False,
) -> None:
  """Lists every system by name, with its published ROUGE scores."""
  import dataclasses

  from stepwise.models import SYSTEMS

  if as_json:
    print_json([dataclasses.asdict(s) for s in SYSTEMS.values()])
    return
  from rich.console import Console
  from rich.table import Table

  table = Table(caption='rouge-1.5.5 as published, CNN/DailyMail test split')
  table.add_column('name', no_wrap=True)
  table.add_column('system')
  table.add_column('R1 / R2 / RL', no_wrap=True)
  for system in SYSTEMS.values():
    scores = ' '.join(f'{score:.2f}' for score in system.published or ())
    table.add_row(system.name, system.title, scores)
  Console().print(table)
