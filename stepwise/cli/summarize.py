"""`stepwise summarize` and `stepwise demo`."""

import sys
from collections import deque
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stepwise._errors import InputError
from stepwise.cli._options import (
  About,
  AsJson,
  Html,
  Model,
  MustInclude,
  Order,
  OrderOption,
  Sentences,
  TrigramBlocking,
  Words,
  number_or_text,
)
from stepwise.cli._output import check_folder, print_json, save_page
from stepwise.cli._progress import counted

if TYPE_CHECKING:
  from stepwise.documents import Item
  from stepwise.summarization import Summarizer, Summary, SummaryOptions


class Split(StrEnum):
  auto = 'auto'
  paragraphs = 'paragraphs'
  never = 'never'


Sources = Annotated[
  list[str],
  typer.Argument(
    metavar='SOURCE...',
    help='Files (text, Markdown, HTML, PDF, DOCX, .eml, .story; many documents '
    'in JSON, JSON lines, CSV, TSV, Parquet; compressed or not), folders of '
    'them, addresses (http, https), or - for standard input.',
  ),
]
Ratio = Annotated[
  float | None, typer.Option(help='This share of the sentences, 0 to 1.')
]
Characters = Annotated[
  int | None,
  typer.Option(help='The best sentences that fit into so many characters.'),
]
MustExclude = Annotated[
  list[str],
  typer.Option(metavar='N|TEXT', help='A sentence not to choose; the same.'),
]
Units = Annotated[
  str,
  typer.Option(
    metavar='KINDS',
    help='What may be chosen: prose (sentences and full items of lists), all, '
    'or kinds such as sentence,quotation.',
  ),
]
SplitOption = Annotated[
  Split,
  typer.Option(
    help='What is chosen: sentences (lists of sentences stay as given), '
    'paragraphs, or lines and items as they are.'
  ),
]
Language = Annotated[
  str | None,
  typer.Option(metavar='CODE', help='Such as de. Default: as it looks.'),
]
TextKey = Annotated[
  str | None,
  typer.Option(
    metavar='NAME',
    help='Field or column with the text. Default: article, document, text, '
    'content or body.',
  ),
]


def summarize(
  sources: Sources,
  sentences: Sentences = None,
  words: Words = None,
  ratio: Ratio = None,
  characters: Characters = None,
  order: OrderOption = Order.document,
  model: Model = 'auto',
  must_include: MustInclude = [],  # noqa: B006, typer copies it.
  must_exclude: MustExclude = [],  # noqa: B006
  about: About = [],  # noqa: B006
  units: Units = 'prose',
  split: SplitOption = Split.auto,
  language: Language = None,
  text_key: TextKey = None,
  trigram_blocking: TrigramBlocking = None,
  as_json: AsJson = False,
  html: Html = None,
) -> None:
  """Summarises texts in a few of their own sentences, three if not told.

  Summaries go to standard output, everything else to standard error. For many
  documents there is one result each, in their order, for rows of a file as a
  line of JSON that `stepwise evaluate` reads; what cannot be summarised becomes
  an error in its place, and the exit code is then 1.
  """
  check_folder(html)
  from stepwise.documents import ReadOptions, has_many, read_items

  many = has_many(sources)
  if html and many:
    raise InputError('--html shows one document, not many.')
  reading = ReadOptions(split.value, language, text_key)
  items = read_items(
    sources,
    reading,
    stdin=sys.stdin.buffer if '-' in sources else None,
    on_skip=lambda message: _warn([message]),
  )
  # Before JAX is imported: a mistake is told at once.
  first = None if many else _first(items)
  summarizer = _load(model)
  from stepwise.summarization import make_options

  options = make_options(
    sentences=number_or_text(sentences),
    words=words,
    ratio=ratio,
    characters=characters,
    order=order.value,
    must_include=list(map(number_or_text, must_include)),
    must_exclude=list(map(number_or_text, must_exclude)),
    about=' '.join(about) or None,
    units=units,
    trigram_blocking=trigram_blocking,
  )
  if first is None or 'line' in first.place:
    rest = items if first is None else _chain(first, items)
    _summarize_many(sources, rest, summarizer, options, as_json)
    return
  if isinstance(first.content, InputError):
    raise first.content
  summary = summarizer(first.content, options)
  _warn((*_reason(summary), *summary.warnings))
  if as_json:
    print_json(summary.to_dict())
  else:
    print(summary.text)
  if html:
    _write_page(html, summary, title=_title(sources[0]))


def demo() -> None:
  """Summarises an article that comes with the package."""
  summarizer = _load('default')
  from stepwise.summarization import sample_article

  article = sample_article()
  print(
    f'Summarising a bundled article of {len(article.split())} words with the'
    ' model that comes with the package.\n',
    file=sys.stderr,
  )
  print(summarizer(article).text)


def _load(model: str) -> 'Summarizer':
  from stepwise._runtime import prepare
  from stepwise.summarization import load_summarizer

  prepare()
  return load_summarizer(model)


def _first(items: 'Iterator[Item]') -> 'Item':
  """The document, or the first of many if standard input has rows."""
  item = next(items)
  if 'line' not in item.place and isinstance(item.content, InputError):
    raise item.content
  return item


def _chain(first: 'Item', rest: 'Iterator[Item]') -> 'Iterator[Item]':
  yield first
  yield from rest


def _title(source: str) -> str:
  return 'standard input' if source == '-' else Path(source).name


def _summarize_many(
  sources: list[str],
  items: 'Iterator[Item]',
  summarizer: 'Summarizer',
  options: 'SummaryOptions',
  as_json: bool,
) -> None:
  """Prints one result per document, as soon as it is there."""
  places: deque[dict[str, Any]] = deque()

  def contents() -> 'Iterator[Any]':
    for item in items:
      places.append(item.place)
      yield item.content

  failed = 0
  name = _title(sources[0]) if len(sources) == 1 else f'{len(sources)} sources'
  with counted(f'Summaries of {name}', among_results=True) as advance:
    for result in summarizer.many(contents(), options):
      place = places.popleft()
      failed += isinstance(result, InputError)
      if 'line' not in place and not as_json:
        _print_file(_where(place), result)
      else:
        print_json(place | _row(result, as_json))
        if not isinstance(result, InputError):
          _warn(f'{_where(place)}: {each}' for each in result.warnings)
      advance(1)
  if failed:
    raise typer.Exit(1)


def _row(result: 'Summary | InputError', whole: bool) -> dict[str, Any]:
  """What `stepwise evaluate` reads, or all there is."""
  if isinstance(result, InputError):
    return {'error': str(result)}
  if whole:
    return result.to_dict()
  return {
    'numbers': [sentence.number for sentence in result],
    'summary': [sentence.text for sentence in result],
  }


def _print_file(name: str, result: 'Summary | InputError') -> None:
  if isinstance(result, InputError):
    # Some errors name what they are of.
    told = str(result)
    _warn([told if not name or name in told else f'{name}: {told}'])
    return
  _warn(
    f'{name}: {warning}' for warning in (*_reason(result), *result.warnings)
  )
  print(f'==> {name} <==\n{result.text}\n', flush=True)


def _reason(summary: 'Summary') -> Iterator[str]:
  if summary.reason:
    yield f'chosen by {summary.reason}'


def _where(place: dict[str, Any]) -> str:
  file = place.get('file') or place.get('address') or place.get('id') or ''
  line = f'line {place["line"]}' if 'line' in place else ''
  if line:
    return f'{place["file"]}, {line}' if 'file' in place else line
  return file


def _warn(warnings: Iterable[str]) -> None:
  for warning in warnings:
    print(f'stepwise: {warning}', file=sys.stderr)


def _write_page(path: Path, summary: 'Summary', title: str) -> None:
  from stepwise.pages import render_page
  from stepwise.summarization import summary_page

  save_page(path, render_page(summary_page(summary, title)))
