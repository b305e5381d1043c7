"""From what is asked to jobs, and from their results to answers.

Texts and tables come with the request. No name of a file or an address is ever
opened: strings go to functions that take text alone.
"""

import base64
import binascii
import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stepwise._errors import InputError
from stepwise.documents import (
  Document,
  ReadOptions,
  make_document,
  parse_file,
)
from stepwise.pages import render_page
from stepwise.planning import bundled_planner, plan_page
from stepwise.realization import (
  GameReport,
  TemplateRealizer,
  fuller_plan,
  known_entries,
  render_report,
  write_report,
)
from stepwise.rotowire import Game, parse_game, salient_plan
from stepwise.serve._queue import Job
from stepwise.summarization import (
  RANKERS,
  Model,
  Summary,
  load_summarizer,
  make_options,
  summary_page,
)
from stepwise.tables import (
  Plan,
  Table,
  make_sheets,
  parse_sheets,
  plan_table,
  report_page,
  report_table,
  table_plan_page,
  tabulate,
)

TABLE_MODELS = {
  'auto': 'salience for tables, default for games',
  'salience': 'what stands out, by rules',
  'default': 'the packaged model, which knows games',
}
_WISHES = (
  *('sentences', 'words', 'ratio', 'characters', 'order', 'about'),
  *('must_include', 'must_exclude', 'trigram_blocking'),
)


class TooLarge(InputError):
  """More than the server takes on."""


class Answer(NamedTuple):
  """What is answered: plain values, and how to make the page."""

  content: dict[str, Any]
  page: Callable[[], str]


class Prepared(NamedTuple):
  """A job, and what its result is answered with."""

  job: Job
  answer: Callable[[Any], Answer]


def text_models(bundles: Mapping[str, Path]) -> dict[str, str]:
  """Names of models for texts, and what each goes by."""
  return {
    'auto': 'what suits the text',
    'default': 'the packaged model, which knows English news',
    **RANKERS,
    **dict.fromkeys(bundles, 'a model of this server'),
  }


def prepare_summary(
  asked: Mapping[str, Any], bundles: Mapping[str, Path], most: int
) -> Prepared:
  """Reads a text; whoever waits may go on with other things meanwhile."""
  wishes = {name: asked[name] for name in _WISHES if name in asked}
  if isinstance(units := asked.get('units', 'prose'), list):
    units = tuple(units)
  options = make_options(units=units, **wishes)
  document = _document(asked)
  _check_size(len(document.spans), most, 'sentences')
  name = asked.get('model', 'auto')
  model: Model = bundles.get(name, name)
  job = Job(
    ('summary', name, options),
    len(document.text),
    document,
    lambda documents: list(load_summarizer(model).many(documents, options)),
  )
  return Prepared(job, functools.partial(_answer_summary, asked))


def _document(asked: Mapping[str, Any]) -> Document:
  """From the contents alone: a text that is the name of a file is a text."""
  reading = ReadOptions(asked.get('split', 'auto'), asked.get('language'))
  if 'file' in asked:
    name = asked['file']['name'].replace('\\', '/').rpartition('/')[2]
    return parse_file(name, _decode(asked['file']['data']), reading)
  text = asked['text']
  if isinstance(text, list):
    reading = ReadOptions('never', asked.get('language'))
  if not ''.join(text).strip():
    raise InputError('the text is empty: there is nothing to summarise.')
  return make_document({'text': text}, None, reading)


def _decode(data: str) -> bytes:
  try:
    return base64.b64decode(data, validate=True)
  except (binascii.Error, ValueError):
    raise InputError('file.data is not base64.') from None


def _check_size(count: int, most: int, what: str) -> None:
  if count > most:
    raise TooLarge(f'there are {count:,} {what}, at most {most:,} are taken.')


def _answer_summary(asked: Mapping[str, Any], summary: Summary) -> Answer:
  content = summary.to_dict()
  if 'id' in asked:
    content = {'id': asked['id'], **content}
  title = asked.get('title') or 'Summary'
  return Answer(content, lambda: render_page(summary_page(summary, title)))


def prepare_plan(asked: Mapping[str, Any], most: int) -> Prepared:
  """Reads a table or a game, to be planned."""
  if 'game' in asked:
    return _plan_game(asked, _game(asked))
  _check_planner(asked)
  table = _table(asked, most)
  wishes = _chosen(asked, 'entries', 'must_include', 'about')
  job = Job(
    ('plan', id(asked)),
    len(table.entries),
    table,
    lambda tables: [plan_table(each, **wishes) for each in tables],
  )
  return Prepared(
    job,
    lambda plan: Answer(
      plan.to_dict(), lambda: render_page(table_plan_page(plan))
    ),
  )


def prepare_report(asked: Mapping[str, Any], most: int) -> Prepared:
  """Reads a table or a game, to be written about."""
  if 'game' in asked:
    return _report_game(asked, _game(asked))
  _check_planner(asked)
  table = _table(asked, most)
  wishes = _chosen(asked, 'entries', 'words', 'must_include', 'about')
  job = Job(
    ('report', id(asked)),
    len(table.entries),
    table,
    lambda tables: [report_table(each, **wishes) for each in tables],
  )
  return Prepared(
    job,
    lambda report: Answer(report.to_dict(), lambda: report_page(report)),
  )


def _chosen(asked: Mapping[str, Any], *names: str) -> dict[str, Any]:
  return {name: asked[name] for name in names if name in asked}


def _check_planner(asked: Mapping[str, Any]) -> None:
  if asked.get('model') == 'default':
    raise InputError('the default model plans games; tables have salience.')


def _table(asked: Mapping[str, Any], most: int) -> Table:
  if 'text' in asked:
    name = asked.get('name', 'table.csv')
    sheets = parse_sheets(asked['text'], name)
    stem = Path(name).name.split('.')[0]
  else:
    sheets, stem = make_sheets(asked['table']), 'table'
  # A table has more entries than cells, never fewer by much.
  _check_size(sum(len(s.rows) * len(s.header) for s in sheets), most, 'cells')
  return tabulate(sheets, None, id=stem)


def _game(asked: Mapping[str, Any]) -> Game:
  for name in ('must_include', 'about', 'words'):
    if name in asked:
      raise InputError(f'{name} is for tables, not for games.')
  if 'entries' in asked and asked.get('model') != 'salience':
    raise InputError('entries is for tables, and for games with salience.')
  return parse_game(asked['game'], id='game')


def _plans(
  model: str, entries: int | None, games: Sequence[Game]
) -> list[Plan]:
  if model == 'salience':
    return [salient_plan(game, entries) for game in games]
  return bundled_planner()(games)


def _game_job(
  asked: Mapping[str, Any], game: Game, work: Callable[..., Any], kind: str
) -> Job:
  """Games of one kind are planned together."""
  model = asked.get('model', 'auto')
  model = 'default' if model == 'auto' else model
  entries = asked.get('entries')
  return Job(
    (kind, model, entries),
    len(game.players),
    game,
    lambda games: work(model, games, _plans(model, entries, games)),
  )


def _plan_game(asked: Mapping[str, Any], game: Game) -> Prepared:
  def work(model: str, games: Sequence[Game], plans: Sequence[Plan]) -> Any:
    if not asked.get('page') or model == 'salience':
      return [(plan, None) for plan in plans]
    planner = bundled_planner()
    return [
      (plan, planner.trace(game))
      for game, plan in zip(games, plans, strict=True)
    ]

  def answer(found: Any) -> Answer:
    plan, trace = found
    names = f'{game.visitor.entity} at {game.home.entity}, {game.date}'
    content = {
      'id': game.id,
      'planner': asked.get('model', 'auto'),
      'plan': [[list(relation) for relation in s] for s in plan],
      'warnings': [],
    }

    def page() -> str:
      if trace is None:
        raise InputError('a page shows the steps of a model; this has none.')
      return render_page(plan_page(trace, names))

    return Answer(content, page)

  kind = f'plan {bool(asked.get("page"))}'
  return Prepared(_game_job(asked, game, work, kind), answer)


def _report_game(asked: Mapping[str, Any], game: Game) -> Prepared:
  def work(
    model: str, games: Sequence[Game], plans: Sequence[Plan]
  ) -> list[GameReport]:
    return [
      write_report(
        *(game, fuller_plan(known_entries(plan, game), game)),
        TemplateRealizer(),
        planner=model,
      )
      for game, plan in zip(games, plans, strict=True)
    ]

  return Prepared(
    _game_job(asked, game, work, 'report'),
    lambda report: Answer(report.to_dict(), lambda: render_report(report)),
  )
