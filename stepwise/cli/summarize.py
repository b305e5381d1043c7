"""`stepwise summarize` and `stepwise demo`."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stepwise._errors import InputError

if TYPE_CHECKING:
  from stepwise.summarization import Summary


def summarize(
  source: Annotated[
    str, typer.Argument(metavar='FILE|-', help='A text file; - is stdin.')
  ],
  sentences: Annotated[
    int, typer.Option(min=1, help='Sentences of the summary.')
  ] = 3,
  model: Annotated[
    str, typer.Option(help='A system of `stepwise models`.')
  ] = 'lead',
  as_json: Annotated[
    bool, typer.Option('--json', help='Print JSON with offsets.')
  ] = False,
) -> None:
  """Summarises a text in a few of its own sentences."""
  text = _read(source)
  from stepwise.summarization import summarize as run

  summary = run(text, sentences=sentences, model=model)
  for warning in summary.warnings:
    print(f'stepwise: {warning}', file=sys.stderr)
  print(_as_json(summary) if as_json else summary.text)


def demo() -> None:
  """Summarises an article that comes with the package."""
  from stepwise.summarization import sample_article
  from stepwise.summarization import summarize as run

  article = sample_article()
  summary = run(article)
  print(
    f'Summarising a bundled article of {len(article.split())} words with the'
    f' {summary.system} baseline: no trained model is bundled yet.\n',
    file=sys.stderr,
  )
  print(summary.text)


def _read(source: str) -> str:
  if source == '-':
    data, name = sys.stdin.buffer.read(), 'standard input'
  else:
    name = source
    try:
      data = Path(source).read_bytes()
    except FileNotFoundError:
      raise InputError(f'{source} does not exist.') from None
    except OSError as error:
      raise InputError(f'{source} cannot be read: {error.strerror}.') from None
  if b'\0' in data:
    raise InputError(f'{name} is not a text file: it has NUL bytes.')
  try:
    return data.decode('utf-8-sig')
  except UnicodeDecodeError as error:
    raise InputError(
      f'{name} is not UTF-8: byte {error.start} cannot be decoded.'
    ) from None


def _as_json(summary: 'Summary') -> str:
  import dataclasses

  fields = dataclasses.asdict(summary) | {'words': summary.words}
  return json.dumps(fields, ensure_ascii=False)
