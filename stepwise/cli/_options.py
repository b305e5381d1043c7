"""Options that several verbs share: one name, one default, one meaning."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer


class Order(StrEnum):
  document = 'document'
  selection = 'selection'


class Method(StrEnum):
  greedy = 'greedy'
  combination = 'combination'
  drawn = 'drawn'


AsJson = Annotated[
  bool, typer.Option('--json', help='Print everything there is, as JSON.')
]
SaveJson = Annotated[
  Path | None,
  typer.Option('--save-json', metavar='OUT', help='Write all numbers.'),
]
Html = Annotated[
  Path | None, typer.Option('--html', metavar='OUT', help='Write a page.')
]
MustInclude = Annotated[
  list[str],
  typer.Option(
    '--must-include',
    metavar='WHAT',
    help='To tell of in any case. Texts: a sentence, by its number (from 1, as '
    '--json and --html show it) or by a piece of its text. Tables: an entity, '
    'a column or entity:column. May be repeated.',
  ),
]
Processes = Annotated[
  int | None, typer.Option(min=1, help='Default: one per core.')
]
Seed = Annotated[int, typer.Option(min=0, help='Of all that is drawn.')]
Batch = Annotated[
  int | None, typer.Option('--batch', min=1, help='How many at a time.')
]
Sequence = Annotated[
  int | None,
  typer.Option(
    '--sequence',
    min=1,
    help='Devices that share the tokens of a document, for very long ones.',
  ),
]
GinFiles = Annotated[
  list[Path], typer.Option('--gin', help='Gin file; may be repeated.')
]
Settings = Annotated[
  list[str],
  typer.Option('--set', metavar='NAME=VALUE', help='Overrides all else.'),
]
OrderOption = Annotated[
  Order, typer.Option('--order', help='Of the chosen sentences.')
]
MethodOption = Annotated[
  Method,
  typer.Option(
    '--method',
    help='Of the search for oracles: greedy; all sets of up to 4 of the 10 '
    'best; or drawn by how much they help.',
  ),
]
Model = Annotated[
  str,
  typer.Option(
    '--model',
    help='auto takes what suits; default is the packaged model; or the folder '
    'of a bundle. Texts have also coverage, lexrank, textrank, centroid and '
    'lead, tables salience.',
  ),
]
About = Annotated[
  list[str],
  typer.Option(
    '--about',
    metavar='TEXT',
    help='What to tell about: words of a text, an entity or a column of a '
    'table; may be repeated.',
  ),
]
_CONFIG = typer.Option(
  '--config', help='A configuration: a name of `stepwise params`.'
)
Config = Annotated[str, _CONFIG]
OptionalConfig = Annotated[str | None, _CONFIG]
Twin = Annotated[
  bool, typer.Option('--twin', help='For the non-stepwise twin of the model.')
]
TokenizerOption = Annotated[
  str,
  typer.Option(
    '--tokenizer',
    help='wordpiece, reports, or a folder with vocab.json and merges.txt.',
  ),
]
MaxUnits = Annotated[
  int | None, typer.Option(min=1, help='Units of a document that are read.')
]
MaxTokens = Annotated[
  int | None, typer.Option(min=1, help='Tokens of a document that are read.')
]
MaxUnitTokens = Annotated[
  int | None, typer.Option(min=1, help='Tokens of a unit that are read.')
]
MaxSteps = Annotated[
  int | None, typer.Option(min=1, help='Entries and breaks of a plan, at most.')
]
Reading = Annotated[
  str | None,
  typer.Option(
    '--reading',
    help='What is read of a game: paper, all entries; roles, fewer, short, '
    'with roles. Default: what the model was made for, or paper.',
  ),
]
Beams = Annotated[
  int | None,
  typer.Option('--beams', min=1, help='Of the search. Default: as the model.'),
]
TrigramBlocking = Annotated[
  bool | None,
  typer.Option(help='No three words in a row twice. Default: as the model.'),
]
Metric = Annotated[
  str,
  typer.Option(help='rouge-1.5.5, rouge-1.5.5-unstemmed or rouge-score.'),
]
Unicode = Annotated[
  bool,
  typer.Option(
    '--unicode',
    help='Words of all scripts, not ASCII. Oracles of documents that are not '
    'English always have them.',
  ),
]

Sentences = Annotated[
  str | None,
  typer.Option(
    '--sentences',
    '-n',
    metavar='N|auto',
    help='How many to choose; auto = as many as the text needs. Default: 3; '
    'of English news 2 to 4, as the model likes; or what a bundle of yours '
    'says.',
  ),
]
Words = Annotated[
  int | None,
  typer.Option(help='The best sentences that fit into so many words.'),
]


def metric_name(metric: str, unicode: bool) -> str:
  """The one name of what `--metric` and `--unicode` ask for."""
  return f'{metric}-unicode' if unicode else metric


def number_or_text(value: str | None) -> Any:
  """What may be a number, such as `3`, or not, such as `auto`."""
  if value is None:
    return None
  negative = value.startswith('-') and value[1:].isdecimal()
  return int(value) if value.isdecimal() or negative else value
