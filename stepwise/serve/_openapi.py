"""The description of the API, as OpenAPI has it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stepwise import __version__
from stepwise.serve._limits import Limits
from stepwise.serve._schemas import (
  ANSWERS,
  plan_schema,
  report_schema,
  summarize_schema,
)

_JSON, _LINES = 'application/json', 'application/x-ndjson'
_EVENTS, _PAGE = 'text/event-stream', 'text/html'
_FAILURES = {
  400: 'The body is no JSON.',
  401: 'The token is missing or wrong.',
  403: 'The request comes from another site.',
  413: 'The body, or the text or table in it, is too large.',
  415: 'The body is of another type.',
  422: 'Something in it is wrong; the error says what.',
  429: 'Too much is waited for; try again after `Retry-After` seconds.',
  503: 'The server is stopping.',
  504: 'It took too long.',
}


def describe(
  text_models: Iterable[str], table_models: Iterable[str], limits: Limits
) -> dict[str, Any]:
  """Everything that can be asked and answered."""
  texts, tables = [*text_models], [*table_models]
  return {
    'openapi': '3.1.0',
    'info': {
      'title': 'stepwise',
      'version': __version__,
      'description': (
        'Summaries of texts, plans and reports of tables. A body has at most'
        f' {limits.body:,} bytes, a text at most {limits.sentences:,}'
        f' sentences, and an answer takes at most {limits.seconds:g} seconds.'
      ),
    },
    'paths': _paths(),
    'components': {
      'schemas': {
        **ANSWERS,
        'SummaryRequest': summarize_schema(texts),
        'PlanRequest': plan_schema(tables),
        'ReportRequest': report_schema(tables),
      },
      'securitySchemes': {'token': {'type': 'http', 'scheme': 'bearer'}},
    },
    'security': [{}, {'token': []}],
  }


def _paths() -> dict[str, Any]:
  return {
    '/api/summarize': {
      'post': _asked(
        'summarize',
        'Summarises a text. As a stream of events it tells `document`, every'
        ' `step`, and the whole `summary`; or `error`.',
        {_JSON: _of('SummaryRequest')},
        {
          _JSON: _of('Summary'),
          _EVENTS: {'schema': {'type': 'string'}},
          _PAGE: {'schema': {'type': 'string'}},
        },
      )
    },
    '/api/summarize/lines': {
      'post': _asked(
        'summarize_lines',
        'Summarises many texts: a request a line, an answer a line, in their'
        ' order. A line that cannot be done is answered with an `error`.',
        {_LINES: {'schema': {'type': 'string'}}},
        {_LINES: {'schema': {'type': 'string'}}},
        without=(400, 422, 429, 504),
      )
    },
    '/api/plan': {
      'post': _asked(
        'plan',
        'What to say about a table or a game, sentence by sentence.',
        {_JSON: _of('PlanRequest')},
        {_JSON: _of('Plan'), _PAGE: {'schema': {'type': 'string'}}},
      )
    },
    '/api/report': {
      'post': _asked(
        'report',
        'Writes about a table or a game.',
        {_JSON: _of('ReportRequest')},
        {_JSON: _of('Report'), _PAGE: {'schema': {'type': 'string'}}},
      )
    },
    '/api/models': {
      'get': _told('models', 'Names of models.', {_JSON: _of('Models')})
    },
    '/api/health': {
      'get': _told('health', 'Whether it answers.', {_JSON: _of('Health')})
    },
    '/api/metrics': {
      'get': _told(
        'metrics',
        'Counts and times, as Prometheus reads them.',
        {'text/plain': {'schema': {'type': 'string'}}},
      )
    },
    '/api/openapi.json': {
      'get': _told(
        'openapi', 'This description.', {_JSON: {'schema': {'type': 'object'}}}
      )
    },
  }


def _of(name: str) -> dict[str, Any]:
  return {'schema': {'$ref': f'#/components/schemas/{name}'}}


def _asked(
  name: str,
  summary: str,
  body: Mapping[str, Any],
  answers: Mapping[str, Any],
  without: Sequence[int] = (),
) -> dict[str, Any]:
  operation = _told(name, summary, answers)
  operation['requestBody'] = {'required': True, 'content': dict(body)}
  operation['responses'] |= {
    str(status): {
      'description': description,
      'content': {_JSON: _of('Error')},
    }
    for status, description in _FAILURES.items()
    if status not in without
  }
  return operation


def _told(
  name: str, summary: str, answers: Mapping[str, Any]
) -> dict[str, Any]:
  failures = {
    str(status): {
      'description': _FAILURES[status],
      'content': {_JSON: _of('Error')},
    }
    for status in (401, 403)
  }
  good = {'200': {'description': 'Done.', 'content': dict(answers)}}
  return {
    'operationId': name,
    'summary': summary,
    'responses': good | failures,
  }
