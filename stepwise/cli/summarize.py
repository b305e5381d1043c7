"""`stepwise summarize` and `stepwise demo`."""

import os
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from stepwise._errors import InputError
from stepwise.cli._options import (
  AsJson,
  Html,
  Model,
  Order,
  OrderOption,
  TrigramBlocking,
)
from stepwise.cli._output import check_folder, print_json, save_page
from stepwise.cli._progress import counted

if TYPE_CHECKING:
  from stepwise.documents import Document
  from stepwise.summarization import Options, Summarizer, Summary

# What is read of a folder.
_TEXT_FILES = ('.txt', '.text', '.md')
_LINES = ('.jsonl', '.jsonl.gz', '.jsonl.zst')


Source = Annotated[
  str,
  typer.Argument(
    metavar='FILE|-|DIR|FILE.jsonl',
    help='A text; - is standard input. Or a folder of texts (.txt, .md), or a '
    'file with one document a line, as JSON.',
  ),
]
Sentences = Annotated[
  int | None, typer.Option('--sentences', '-n', help='How many to choose.')
]
Words = Annotated[
  int | None, typer.Option(help='As many sentences as fit into so many words.')
]
Ratio = Annotated[
  float | None, typer.Option(help='This share of the sentences, 0 to 1.')
]
MustInclude = Annotated[
  list[str],
  typer.Option(
    metavar='N|TEXT',
    help='A sentence to choose in any case, by its number from 0 or by a '
    'piece of its text; may be repeated.',
  ),
]


def summarize(
  source: Source,
  sentences: Sentences = None,
  words: Words = None,
  ratio: Ratio = None,
  order: OrderOption = Order.document,
  model: Model = 'default',
  must_include: MustInclude = [],  # noqa: B006, typer copies it.
  trigram_blocking: TrigramBlocking = None,
  as_json: AsJson = False,
  html: Html = None,
) -> None:
  """Summarises texts in a few of their own sentences.

  Without a length the model stops by itself. Summaries go to standard output,
  everything else to standard error. For a file of JSON lines there is one line
  of JSON per line, in its order; a line or a file that cannot be summarised
  becomes an error in its place, and the exit code is then 1.
  """
  check_folder(html)
  if html and _is_many(source):
    raise InputError('--html shows one document, not many.')
  # Before JAX is imported: a mistake is told at once.
  text = None if _is_many(source) else _read(source)
  summarizer = _load(model)
  from stepwise.summarization import Options

  wishes = tuple(int(w) if w.isdecimal() else w for w in must_include)
  options = Options(
    sentences, words, ratio, order.value, wishes, trigram_blocking
  )
  if text is None:
    _summarize_many(Path(source), summarizer, options, as_json)
    return
  summary = summarizer(text, options)
  _warn(summary.warnings)
  if as_json:
    print_json(summary.as_dict())
  else:
    print(summary.text)
  if html:
    _write_page(html, summary, title=_name(source))


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
  from stepwise.cli._compilation_cache import use_compilation_cache
  from stepwise.summarization import load_summarizer

  use_compilation_cache()
  return load_summarizer(model)


def _is_many(source: str) -> bool:
  return source != '-' and (os.path.isdir(source) or source.endswith(_LINES))


def _name(source: str) -> str:
  return 'standard input' if source == '-' else Path(source).name


def _read(source: str) -> str:
  name = _name(source) if source == '-' else source
  try:
    data = sys.stdin.buffer.read() if source == '-' else _bytes(source)
  except OSError as error:
    raise InputError(f'{name} cannot be read: {error.strerror}.') from None
  if b'\0' in data:
    raise InputError(f'{name} is not a text file: it has NUL bytes.')
  try:
    text = data.decode('utf-8-sig')
  except UnicodeDecodeError as error:
    raise InputError(
      f'{name} is not UTF-8: byte {error.start} cannot be decoded.'
    ) from None
  if not text.strip():
    raise InputError(f'{name} is empty: there is nothing to summarise.')
  return text


def _bytes(source: str) -> bytes:
  try:
    return Path(source).read_bytes()
  except FileNotFoundError:
    raise InputError(f'{source} does not exist.') from None


class _Item(NamedTuple):
  """A document of many, or why it is none; `place` is where it stands."""

  place: dict[str, Any]
  content: 'str | Document | InputError'


def _summarize_many(
  source: Path, summarizer: 'Summarizer', options: 'Options', as_json: bool
) -> None:
  """Prints one result per document, as soon as it is there."""
  folder = source.is_dir()
  items = _files(source) if folder else _lines(source)
  places: deque[dict[str, Any]] = deque()

  def contents() -> 'Iterator[str | Document | InputError]':
    for item in items:
      places.append(item.place)
      yield item.content

  failed = 0
  title = f'Summaries of {source.name}'
  with counted(title, among_results=True) as advance:
    for result in summarizer.many(contents(), options):
      place = places.popleft()
      failed += isinstance(result, InputError)
      if folder and not as_json:
        _print_file(place['file'], result)
      else:
        print_json(place | _row(result, as_json))
        if not isinstance(result, InputError):
          _warn(f'{_where(place)}: {each}' for each in result.warnings)
      advance(1)
  if failed:
    raise typer.Exit(1)


def _files(folder: Path) -> Iterator[_Item]:
  try:
    paths = sorted(
      path
      for path in folder.iterdir()
      if path.suffix.lower() in _TEXT_FILES and path.is_file()
    )
  except OSError as error:
    raise InputError(f'{folder} cannot be read: {error.strerror}.') from None
  if not paths:
    raise InputError(
      f'{folder} has no text files, whose names end with '
      f'{", ".join(_TEXT_FILES)}.'
    )
  for path in paths:
    try:
      yield _Item({'file': path.name}, _read(str(path)))
    except InputError as error:
      yield _Item({'file': path.name}, error)


def _lines(path: Path) -> Iterator[_Item]:
  from stepwise.documents import find_format, parse_item

  form = find_format(path)
  for number, raw in form.items(path):
    try:
      document = parse_item(form, path, number, raw)
      yield _Item({'line': number, 'id': document.id}, document)
    except InputError as error:
      yield _Item({'line': number}, error)


def _row(result: 'Summary | InputError', whole: bool) -> dict[str, Any]:
  """The format of `stepwise infer`, or all there is."""
  if isinstance(result, InputError):
    return {'error': str(result)}
  if whole:
    return result.as_dict()
  return {
    'units': [sentence.index for sentence in result.sentences],
    'summary': [sentence.text for sentence in result.sentences],
  }


def _print_file(name: str, result: 'Summary | InputError') -> None:
  if isinstance(result, InputError):
    _warn([f'{name}: {result}'])
    return
  _warn(f'{name}: {warning}' for warning in result.warnings)
  print(f'==> {name} <==\n{result.text}\n', flush=True)


def _where(place: dict[str, Any]) -> str:
  return place['file'] if 'file' in place else f'line {place["line"]}'


def _warn(warnings: Iterable[str]) -> None:
  for warning in warnings:
    print(f'stepwise: {warning}', file=sys.stderr)


def _write_page(path: Path, summary: 'Summary', title: str) -> None:
  from stepwise.pages import render_page
  from stepwise.summarization import summary_page

  save_page(path, render_page(summary_page(summary, title)))
