"""The server's application: every path, and what happens to a request."""

import asyncio
import contextlib
import json
import logging
import time
from collections import deque
from collections.abc import (
  AsyncIterator,
  Awaitable,
  Callable,
  Iterable,
  Mapping,
)
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import (
  HTMLResponse,
  JSONResponse,
  Response,
  StreamingResponse,
)
from starlette.routing import Route

from stepwise import __version__
from stepwise._errors import InputError
from stepwise.serve import _page
from stepwise.serve._guard import Guard, refuse, too_large
from stepwise.serve._jobs import (
  TABLE_MODELS,
  Answer,
  Prepared,
  TooLarge,
  prepare_plan,
  prepare_report,
  prepare_summary,
  text_models,
)
from stepwise.serve._limits import Limits
from stepwise.serve._metrics import Metrics
from stepwise.serve._openapi import describe
from stepwise.serve._queue import Batcher, Busy, Room
from stepwise.serve._schemas import NotJson, parse

_T = TypeVar('_T')
_JSON, _LINES = 'application/json', 'application/x-ndjson'
# Seconds after which somebody who was refused may try again.
_RETRY = '1'
# A client that left is answered with nothing, and counted as this.
_LEFT = 499

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ServeConfig:
  """What is served, and to whom.

  Attributes:
    bundles: folders of models, by the names they are asked for.
    token: that requests must bear; None = only this machine can ask.
    limits: how much is taken on.
    warm: whether the packaged model is made ready before anybody asks.
  """

  bundles: Mapping[str, Path] = field(default_factory=dict)
  token: str | None = field(default=None, repr=False)
  limits: Limits = Limits()
  warm: bool = False


class _Failed(Exception):
  """An answer that is none."""

  def __init__(self, response: Response):
    self.response = response


def make_app(config: ServeConfig = ServeConfig()) -> Starlette:
  """The application; an ASGI server such as uvicorn runs it."""
  service = _Service(config)
  posts = {
    '/api/summarize': service.summarize,
    '/api/summarize/lines': service.summarize_lines,
    '/api/plan': service.plan,
    '/api/report': service.report,
  }
  gets = {
    '/api/models': service.models,
    '/api/health': service.health,
    '/api/metrics': service.show_metrics,
    '/api/openapi.json': service.openapi,
    '/': _page.index,
    '/app.js': _page.script,
    '/app.css': _page.style,
    '/sample.txt': _page.sample,
  }
  routes = [
    *(_route(service, path, each, 'POST') for path, each in posts.items()),
    *(_route(service, path, each, 'GET') for path, each in gets.items()),
  ]
  guard = Middleware(Guard, token=config.token, body=config.limits.body)
  app = Starlette(
    routes=routes,
    middleware=[guard],
    lifespan=service.lifespan,
    exception_handlers={
      HTTPException: _told,
      Exception: _broken,
    },
  )
  app.state.batcher = service.batcher
  return app


def _route(
  service: '_Service',
  path: str,
  answer: Callable[[Request], Awaitable[Response]],
  method: str,
) -> Route:
  """Counts, times, and turns what went wrong into an answer."""

  async def endpoint(request: Request) -> Response:
    started, status = time.perf_counter(), 500
    try:
      response = await _attempt(answer, request, service.config.limits)
      status = response.status_code
      return response
    finally:
      service.metrics.requests.labels(path, status).inc()
      seconds = time.perf_counter() - started
      service.metrics.seconds.labels(path).observe(seconds)

  return Route(path, endpoint, methods=[method])


async def _attempt(
  answer: Callable[[Request], Awaitable[Response]],
  request: Request,
  limits: Limits,
) -> Response:
  try:
    return await answer(request)
  except _Failed as failed:
    return failed.response
  except ClientDisconnect:
    return Response(status_code=_LEFT)
  except Exception as error:
    if (known := _status(error, limits)) is None:
      raise
    status, message = known
    headers = {'Retry-After': _RETRY} if status in (429, 503) else None
    return refuse(status, message, headers)


def _status(error: Exception, limits: Limits) -> tuple[int, str] | None:
  """What is answered to a mistake; None to one of ours."""
  match error:
    case NotJson():
      return 400, str(error)
    case TooLarge():
      return 413, str(error)
    case InputError():
      return 422, str(error)
    case Busy():
      return 429, f'{limits.queue} texts and tables are waited for already.'
    case TimeoutError():
      return 504, f'it took more than {limits.seconds:g} seconds.'
  return None


async def _told(request: Request, error: Exception) -> Response:
  assert isinstance(error, HTTPException)
  return refuse(
    error.status_code, f'{request.url.path}: {error.detail}.', error.headers
  )


async def _broken(request: Request, error: Exception) -> Response:
  return refuse(500, 'the server has made a mistake; its log says more.')


class _Service:
  """What requests share: the queue, the room, the metrics."""

  def __init__(self, config: ServeConfig):
    self.config = config
    self.metrics = Metrics()
    limits = config.limits
    self._room = Room(limits.queue)
    self.batcher = Batcher(
      limits.batch, self.metrics.batches.observe, self.metrics.cancelled.inc
    )
    self._text_models = text_models(config.bundles)
    self._openapi = describe(self._text_models, TABLE_MODELS, limits)
    self._stopping = False
    for name, what, value in (
      ('stepwise_waiting', 'Jobs that wait.', lambda: len(self.batcher)),
      ('stepwise_in_flight', 'Jobs waited for.', lambda: self._room.taken),
    ):
      self.metrics.watch(name, what, value)

  @contextlib.asynccontextmanager
  async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
    self.batcher.start()
    if self.config.warm:
      self._warm()
    try:
      yield
    finally:
      # Every request is answered by now; what runs is what nobody waits for.
      self._stopping = True
      await run_in_threadpool(self.batcher.close)

  def _warm(self) -> None:
    from stepwise.summarization import sample_article

    asked = {'text': sample_article(), 'model': 'auto'}
    prepared = prepare_summary(asked, {}, self.config.limits.sentences)
    self.batcher.submit(prepared.job)

  # What is only told.

  async def models(self, request: Request) -> Response:
    def listed(names: Mapping[str, str]) -> list[dict[str, str]]:
      return [{'name': n, 'description': d} for n, d in names.items()]

    return JSONResponse(
      {'texts': listed(self._text_models), 'tables': listed(TABLE_MODELS)}
    )

  async def health(self, request: Request) -> Response:
    status = 'stopping' if self._stopping else 'ok'
    return JSONResponse(
      {
        'status': status,
        'version': __version__,
        'waiting': len(self.batcher),
      }
    )

  async def show_metrics(self, request: Request) -> Response:
    text = 'text/plain; version=0.0.4; charset=utf-8'
    return Response(self.metrics.text(), media_type=text)

  async def openapi(self, request: Request) -> Response:
    return JSONResponse(self._openapi)

  # What is done.

  async def summarize(self, request: Request) -> Response:
    asked = await self._read(request, 'SummaryRequest')
    if _accepts(request, 'text/event-stream'):
      # Before the answer begins, which cannot be taken back.
      self._room.check()
      events = self._events(request, asked)
      return StreamingResponse(events, media_type='text/event-stream')
    return await self._answer(request, asked, self._summary)

  async def plan(self, request: Request) -> Response:
    asked = await self._read(request, 'PlanRequest')
    return await self._answer(request, asked, self._plan)

  async def report(self, request: Request) -> Response:
    asked = await self._read(request, 'ReportRequest')
    return await self._answer(request, asked, self._report)

  async def summarize_lines(self, request: Request) -> Response:
    body = await self._body(request, _LINES)
    lines = [line for line in body.split(b'\n') if line.strip()]
    return StreamingResponse(self._lines(request, lines), media_type=_LINES)

  def _summary(self, asked: Mapping[str, Any]) -> Prepared:
    most = self.config.limits.sentences
    return prepare_summary(asked, self.config.bundles, most)

  def _plan(self, asked: Mapping[str, Any]) -> Prepared:
    return prepare_plan(asked, self.config.limits.sentences)

  def _report(self, asked: Mapping[str, Any]) -> Prepared:
    return prepare_report(asked, self.config.limits.sentences)

  async def _read(self, request: Request, schema: str) -> dict[str, Any]:
    body = await self._body(request, _JSON)
    return await run_in_threadpool(self._parse, body, schema)

  def _parse(self, body: bytes, name: str) -> dict[str, Any]:
    return parse(body, self._openapi['components']['schemas'][name])

  async def _body(self, request: Request, kind: str) -> bytes:
    given = request.headers.get('content-type', '').partition(';')[0].strip()
    # Also keeps forms of other sites out, which cannot say so unasked.
    if given.lower() != kind:
      raise _Failed(
        refuse(415, f'the content type is {given!r}, must be {kind}.')
      )
    parts, size = [], 0
    async for part in request.stream():
      size += len(part)
      if size > self.config.limits.body:
        raise _Failed(too_large(self.config.limits.body))
      parts.append(part)
    return b''.join(parts)

  async def _answer(
    self,
    request: Request,
    asked: Mapping[str, Any],
    prepare: Callable[[Mapping[str, Any]], Prepared],
  ) -> Response:
    wants_page = _accepts(request, 'text/html')
    if wants_page:
      asked = {**asked, 'page': True}
    async with self._room.place():
      answer = await _unless_left(request, self._do(asked, prepare))
      if wants_page:
        return HTMLResponse(await run_in_threadpool(answer.page))
      return JSONResponse(await self._content(asked, answer))

  async def _do(
    self,
    asked: Mapping[str, Any],
    prepare: Callable[[Mapping[str, Any]], Prepared],
  ) -> Answer:
    """Reads, waits for its turn and the result; cancelling takes it back."""
    async with asyncio.timeout(self.config.limits.seconds):
      prepared = await run_in_threadpool(prepare, asked)
      future = self.batcher.submit(prepared.job)
      return prepared.answer(await asyncio.wrap_future(future))

  async def _content(
    self, asked: Mapping[str, Any], answer: Answer
  ) -> dict[str, Any]:
    if not asked.get('page'):
      return answer.content
    return answer.content | {'page': await run_in_threadpool(answer.page)}

  async def _events(
    self, request: Request, asked: Mapping[str, Any]
  ) -> AsyncIterator[str]:
    """The text as it is read, steps, the whole; or why not."""
    try:
      async with self._room.place():
        async with asyncio.timeout(self.config.limits.seconds):
          prepared = await run_in_threadpool(self._summary, asked)
          document = prepared.job.content
          yield _event(
            'document',
            {'sentences': len(document.spans), 'language': document.language},
          )
          future = self.batcher.submit(prepared.job)
          found = await _unless_left(request, asyncio.wrap_future(future))
          answer = prepared.answer(found)
        texts = {s['number']: s['text'] for s in answer.content['sentences']}
        for step in answer.content['steps']:
          yield _event('step', step | {'text': texts.get(step['number'])})
        yield _event('summary', await self._content(asked, answer))
    except ClientDisconnect:
      return
    except Exception as error:
      yield _event('error', self._mistake(error))

  async def _lines(
    self, request: Request, lines: Iterable[bytes]
  ) -> AsyncIterator[str]:
    """Answers in order; a few more are under way than were answered."""
    pending: deque[asyncio.Task[dict[str, Any]]] = deque()
    rest = iter(lines)
    ahead = 2 * self.config.limits.batch
    try:
      while True:
        for line in islice(rest, ahead - len(pending)):
          pending.append(asyncio.create_task(self._line(line)))
        if not pending:
          return
        yield json.dumps(await _unless_left(request, pending.popleft())) + '\n'
    except ClientDisconnect:
      return
    finally:
      for task in pending:
        task.cancel()

  async def _line(self, line: bytes) -> dict[str, Any]:
    async with self._room.place(wait=True):
      try:
        asked = self._parse(line, 'SummaryRequest')
        answer = await self._do(asked, self._summary)
        return await self._content(asked, answer)
      except Exception as error:
        return self._mistake(error)

  def _mistake(self, error: Exception) -> dict[str, Any]:
    known = _status(error, self.config.limits)
    if known is None:
      _log.error('a text could not be done', exc_info=error)
      known = 500, 'the server has made a mistake; its log says more.'
    return {'error': known[1]}


def _accepts(request: Request, kind: str) -> bool:
  """Whether this is what is wanted first."""
  first = request.headers.get('accept', '').partition(',')[0]
  return first.partition(';')[0].strip().lower() == kind


def _event(name: str, data: Any) -> str:
  return f'event: {name}\ndata: {json.dumps(data)}\n\n'


async def _unless_left(request: Request, work: Awaitable[_T]) -> _T:
  """The result; a client that leaves takes the work back."""
  task = asyncio.ensure_future(work)
  left = asyncio.ensure_future(_left(request))
  try:
    await asyncio.wait({task, left}, return_when=asyncio.FIRST_COMPLETED)
    if not task.done():
      raise ClientDisconnect
    return task.result()
  finally:
    for each in (task, left):
      each.cancel()


async def _left(request: Request) -> None:
  while (await request.receive())['type'] != 'http.disconnect':
    pass
