"""`stepwise table`: drafts of template files, and what a table holds."""

from pathlib import Path
from typing import Annotated

import typer

from stepwise.cli._output import check_folder

app = typer.Typer(
  help='Templates of tables: what their columns mean.', no_args_is_help=True
)

Table = Annotated[
  Path,
  typer.Argument(
    metavar='TABLE', help='A table, or a folder of related tables.'
  ),
]
Target = Annotated[
  Path | None,
  typer.Argument(metavar='FILE.toml', help='Default: standard output.'),
]


@app.command()
def init(table: Table, target: Target = None) -> None:
  """Drafts a template file: nouns, labels, units, directions, aggregates.

  A report with the draft is the report without it; change what was guessed
  wrong, and say things in your own words.
  """
  from stepwise._files import write_text
  from stepwise.tables import draft_templates, read_sheets

  check_folder(target)
  draft = draft_templates(read_sheets(table))
  if target:
    write_text(target, draft)
  else:
    print(draft, end='')
