"""What may be asked, as JSON schemas: the one description, and the one check.

The same schemas are in the OpenAPI description, and every request is held
against them.
"""

import json
from collections.abc import Sequence
from typing import Any, get_args

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.exceptions import best_match

from stepwise._errors import InputError
from stepwise.documents import Kind

Schema = dict[str, Any]

_COUNT: Schema = {'type': 'integer', 'minimum': 1, 'maximum': 1_000_000}
_TEXT: Schema = {'type': 'string', 'minLength': 1}
_NAMES: Schema = {'type': 'array', 'items': _TEXT, 'maxItems': 100}
_WISHES: Schema = {
  'type': 'array',
  'items': {'oneOf': [_COUNT, _TEXT]},
  'maxItems': 1000,
}
_COUNTED = (
  *('sentences', 'words', 'characters', 'entries'),
  *('must_include', 'must_exclude'),
)
# Longer values are cut where a mistake is told.
_SHOWN = 60


def _object(required: Sequence[str] = (), **properties: Schema) -> Schema:
  return {
    'type': 'object',
    'properties': properties,
    'required': [*required],
    'additionalProperties': False,
  }


def _nullable(schema: Schema) -> Schema:
  return {'oneOf': [schema, {'type': 'null'}]}


def _told(schema: Schema, description: str) -> Schema:
  return {**schema, 'description': description}


_FILE = _told(
  _object(
    ('name', 'data'),
    name=_told(_TEXT, 'Its end tells the format, such as `.pdf`.'),
    data=_told(
      {'type': 'string', 'contentEncoding': 'base64'}, 'The bytes, in base64.'
    ),
  ),
  'A file with one document: its contents, not its place.',
)

_PAGE = _told(
  {'type': 'boolean'}, 'Whether the answer has a page to look at, as HTML.'
)
_TITLE = _told({'type': 'string', 'maxLength': 200}, 'What the page is called.')


def summarize_schema(models: Sequence[str]) -> Schema:
  """Of `/api/summarize`, and of every line of `/api/summarize/lines`."""
  kinds = {'type': 'string', 'enum': [*get_args(Kind)]}
  schema = _object(
    (),
    text=_told(
      {'oneOf': [_TEXT, {'type': 'array', 'items': _TEXT, 'minItems': 1}]},
      'The text, or its sentences, which stay as they are.',
    ),
    file=_FILE,
    id=_told({'type': 'string', 'maxLength': 200}, 'Comes back as it is.'),
    model={'type': 'string', 'enum': [*models]},
    sentences=_told(
      {'oneOf': [_COUNT, {'const': 'auto'}]}, 'How many to choose.'
    ),
    words=_told(_COUNT, 'The sentences have so many at most.'),
    characters=_told(_COUNT, 'The sentences have so many at most.'),
    ratio=_told(
      {'type': 'number', 'exclusiveMinimum': 0, 'maximum': 1},
      'The share of sentences to choose.',
    ),
    order={'type': 'string', 'enum': ['document', 'selection']},
    about=_told(
      {'type': 'string', 'minLength': 1, 'maxLength': 1000},
      'What the summary should be about.',
    ),
    must_include=_told(_WISHES, 'Sentences by number, or a piece of each.'),
    must_exclude=_told(_WISHES, 'Sentences by number, or a piece of each.'),
    units=_told(
      {
        'oneOf': [
          {'type': 'string', 'enum': ['prose', 'all']},
          {'type': 'array', 'items': kinds, 'minItems': 1},
        ]
      },
      'What may be chosen.',
    ),
    split={'type': 'string', 'enum': ['auto', 'paragraphs', 'never']},
    language=_told({'type': 'string', 'pattern': '^[a-z]{2,3}$'}, 'A code.'),
    trigram_blocking={'type': 'boolean'},
    page=_PAGE,
    title=_TITLE,
  )
  return schema | {
    'oneOf': [{'required': ['text']}, {'required': ['file']}],
  }


def _table_schema(models: Sequence[str], **more: Schema) -> Schema:
  schema = _object(
    (),
    table=_told(
      {'type': ['object', 'array']},
      'Rows as objects, columns by name, or several tables by name.',
    ),
    text=_told(_TEXT, 'A table as text: CSV, TSV, JSON or JSON lines.'),
    name=_told(
      {'type': 'string', 'minLength': 1, 'maxLength': 200},
      'Of the text; its end tells the format, `.csv` if there is none.',
    ),
    game=_told({'type': 'object'}, 'A box score, in the layout of Rotowire.'),
    model={'type': 'string', 'enum': [*models]},
    entries=_told(_COUNT | {'maximum': 1000}, 'So many at most.'),
    must_include=_told(_NAMES, 'Entities, columns or `entity:column`.'),
    about=_told(_NAMES, 'Entities or columns that it is confined to.'),
    page=_PAGE,
    **more,
  )
  return schema | {
    'oneOf': [{'required': [name]} for name in ('table', 'text', 'game')],
    'dependentRequired': {'name': ['text']},
  }


def plan_schema(models: Sequence[str]) -> Schema:
  """Of `/api/plan`."""
  return _table_schema(models)


def report_schema(models: Sequence[str]) -> Schema:
  """Of `/api/report`."""
  words = _told(_COUNT | {'maximum': 1000}, 'The report has so many at most.')
  return _table_schema(models, words=words)


_STEP = _told(
  _object(
    ('number', 'log_prob', 'probabilities', 'stop'),
    number=_told(
      _nullable({'type': 'integer'}), 'Of the sentence; null for the stop.'
    ),
    log_prob=_nullable({'type': 'number'}),
    probabilities={'type': 'array', 'items': {'type': 'number'}},
    stop={'type': 'number'},
  ),
  'A choice; probabilities are those of all sentences before it.',
)
_SENTENCE = _object(
  ('number', 'text', 'start', 'end', 'step', 'log_prob', 'kind'),
  number={'type': 'integer'},
  text={'type': 'string'},
  start={'type': 'integer'},
  end={'type': 'integer'},
  step={'type': 'integer'},
  log_prob=_nullable({'type': 'number'}),
  kind={'type': 'string'},
)
_STRINGS: Schema = {'type': 'array', 'items': {'type': 'string'}}
_PLAN: Schema = {
  'type': 'array',
  'items': {'type': 'array', 'items': _STRINGS},
  'description': 'Sentences of entries: entity, value, type.',
}

ANSWERS: dict[str, Schema] = {
  'Error': _object(('error',), error={'type': 'string'}),
  'Summary': _object(
    ('model', 'summary', 'sentences', 'steps', 'warnings', 'words'),
    id={'type': 'string'},
    model={'type': 'string'},
    reason={'type': 'string'},
    language={'type': 'string'},
    order={'type': 'string'},
    words={'type': 'integer'},
    summary=_STRINGS,
    sentences={'type': 'array', 'items': _SENTENCE},
    steps={'type': 'array', 'items': _STEP},
    warnings=_STRINGS,
    page={'type': 'string'},
  ),
  'Plan': {
    **_object(('planner', 'plan', 'warnings')),
    'properties': {
      'planner': {'type': 'string'},
      'plan': _PLAN,
      'warnings': _STRINGS,
      'page': {'type': 'string'},
    },
    'additionalProperties': True,
  },
  'Report': {
    **_object(('planner', 'plan', 'text', 'warnings')),
    'properties': {
      'planner': {'type': 'string'},
      'plan': _PLAN,
      'text': {'type': 'string'},
      'warnings': _STRINGS,
      'page': {'type': 'string'},
    },
    'additionalProperties': True,
  },
  'Models': _object(
    ('texts', 'tables'),
    **{
      name: {
        'type': 'array',
        'items': _object(
          ('name', 'description'),
          name={'type': 'string'},
          description={'type': 'string'},
        ),
      }
      for name in ('texts', 'tables')
    },
  ),
  'Health': _object(
    ('status', 'version', 'waiting'),
    status={'type': 'string', 'enum': ['ok', 'stopping']},
    version={'type': 'string'},
    waiting={'type': 'integer'},
  ),
}


class NotJson(InputError):
  """A body that cannot be read at all."""


def parse(body: bytes, schema: Schema) -> dict[str, Any]:
  """The object that a body holds; a mistake is one sentence."""
  try:
    value = json.loads(body.decode('utf-8'), parse_constant=_no_number)
    if b'\\ud' in body.lower():
      # Half a pair of surrogates could not be answered.
      json.dumps(value, ensure_ascii=False).encode()
  except UnicodeDecodeError as error:
    raise NotJson(f'not UTF-8 text: byte {error.start}.') from None
  except UnicodeEncodeError:
    raise NotJson('half a surrogate pair is in a string.') from None
  except RecursionError:
    raise NotJson('nested too deeply.') from None
  except ValueError as error:
    raise NotJson(f'not JSON: {error}.') from None
  check(value, schema)
  return {name: _tidy(name, each) for name, each in value.items()}


def _tidy(name: str, value: Any) -> Any:
  """In JSON 3.0 is a whole number as well, and 1 a share."""
  if name == 'ratio':
    return float(value)
  if name in _COUNTED and isinstance(value, float):
    return int(value)
  if name in _COUNTED and isinstance(value, list):
    return [_tidy(name, each) for each in value]
  return value


def _no_number(name: str) -> float:
  raise ValueError(f'{name} is no number of JSON')


def check(value: Any, schema: Schema) -> None:
  error = best_match(Draft202012Validator(schema).iter_errors(value))
  if error is not None:
    raise InputError(_explain(error))


def _explain(error: ValidationError) -> str:
  place = '.'.join(map(str, error.absolute_path)) or 'the request'
  shown = repr(error.instance)
  if len(shown) > _SHOWN:
    shown = f'{shown[:_SHOWN]}...'
  asked: Any = error.validator_value
  match error.validator:
    case 'additionalProperties':
      return f'{place} is {shown}: {error.message}.'
    case 'enum':
      return f'{place} is {shown}, must be one of {asked}.'
    case 'required':
      return f'{place} is {shown}, must have {asked}.'
    case 'type':
      return f'{place} is {shown}, must be of type {asked}.'
    case 'oneOf' if place == 'the request':
      names = [each['required'][0] for each in asked]
      return f'{place} is {shown}, must have one of {", ".join(names)}.'
  what = f'{error.validator} {asked}'
  schema: Any = error.schema
  if len(what) > _SHOWN:
    what = schema.get('description', error.validator)
  return f'{place} is {shown}, which does not hold to: {what.rstrip(".")}.'
