"""Configurations as JSON: frozen dataclasses of dataclasses, and back.

The outermost object is tagged with its type; those inside are of the types
that fields are annotated with. Reading is strict, so that a bundle is never
half understood.
"""

import dataclasses
import typing
from typing import Any

import jax.numpy as jnp

from stepwise._errors import InputError
from stepwise._typing import DTypeLike
from stepwise.decoding import DecodeConfig
from stepwise.inference import PredictConfig
from stepwise.models import ModelConfig

_TYPES = {cls.__name__: cls for cls in typing.get_args(ModelConfig)}
_DTYPE = DTypeLike | None


def config_to_json(config: ModelConfig) -> dict[str, Any]:
  """`{'type': ..., 'fields': {...}}`, of JSON values only."""
  return {'type': type(config).__name__, 'fields': _encode(config)}


def config_from_json(where: str, values: Any) -> Any:
  """The configuration; `where` is named if anything is wrong."""
  if not isinstance(values, dict) or values.keys() != {'type', 'fields'}:
    raise InputError(f'{where}: a configuration is an object of type, fields.')
  if values['type'] not in _TYPES:
    raise InputError(
      f'{where}: no configuration is of type {values["type"]!r}, there are '
      f'{", ".join(_TYPES)}.'
    )
  return _decode(where, _TYPES[values['type']], values['fields'])


def decoding_to_json(decoding: PredictConfig) -> dict[str, Any]:
  """How a model chooses; `batch_size` is no property of it."""
  values = dataclasses.asdict(decoding)
  del values['batch_size']
  values['decode']['never'] = list(values['decode']['never'])
  return values


def decoding_from_json(where: str, values: Any) -> PredictConfig:
  """What is not given is as by default, so that files outlive new options."""
  values = _known(where, PredictConfig, values)
  values |= {'decode': _known(where, DecodeConfig, values.get('decode', {}))}
  never = values['decode'].get('never', [])
  if not isinstance(never, list) or any(type(u) is not int for u in never):
    raise InputError(f'{where}: never is {never!r}; a list of units is needed.')
  values['decode'] |= {'never': tuple(never)}
  try:
    return PredictConfig(
      **values | {'decode': DecodeConfig(**values['decode'])}
    )
  except (ValueError, TypeError) as error:
    raise InputError(f'{where}: {error}.') from error


def _known(where: str, cls: type, values: Any) -> dict[str, Any]:
  """Fields of `cls`, of the types it has; `decode` and `never` are not."""
  hints = typing.get_type_hints(cls)
  if not isinstance(values, dict) or not values.keys() <= hints.keys():
    unknown = sorted(values.keys() - hints) if isinstance(values, dict) else []
    raise InputError(
      f'{where} must be an object of {sorted(hints)}; it has unknown {unknown}.'
    )
  return {
    name: value
    if name in ('decode', 'never')
    else _decode_field(f'{where}: {name}', hints[name], value)
    for name, value in values.items()
  }


def _encode(config: Any) -> dict[str, Any]:
  encoded = {}
  for name, hint in typing.get_type_hints(type(config)).items():
    value = getattr(config, name)
    if dataclasses.is_dataclass(value):
      value = _encode(value)
    elif hint == _DTYPE and value is not None:
      value = jnp.dtype(value).name
    encoded[name] = value
  return encoded


def _decode(where: str, cls: type, values: Any) -> Any:
  hints = typing.get_type_hints(cls)
  if not isinstance(values, dict) or values.keys() != hints.keys():
    given = values.keys() if isinstance(values, dict) else set()
    raise InputError(
      f'{where}: {cls.__name__} lacks {sorted(hints.keys() - given)} and has '
      f'unknown {sorted(given - hints.keys())}.'
    )
  fields = {
    name: _decode_field(f'{where}: {cls.__name__}.{name}', hint, values[name])
    for name, hint in hints.items()
  }
  try:
    return cls(**fields)
  except ValueError as error:
    raise InputError(f'{where}: {error}') from error


def _decode_field(where: str, hint: Any, value: Any) -> Any:
  if dataclasses.is_dataclass(hint):
    return _decode(where, typing.cast(type, hint), value)
  if hint == _DTYPE:
    return _decode_dtype(where, value)
  allowed = _allowed(hint)
  if type(value) not in allowed:
    names = sorted(kind.__name__ for kind in allowed)
    raise InputError(f'{where} is {value!r}; {" or ".join(names)} is needed.')
  return value


def _decode_dtype(where: str, value: Any) -> Any:
  if value is None:
    return None
  try:
    return jnp.dtype(value)
  except TypeError as error:
    raise InputError(f'{where} is {value!r}; no such dtype.') from error


def _allowed(hint: Any) -> set[type]:
  """JSON types of a field; `isinstance` would take True for a number."""
  if typing.get_origin(hint) is typing.Literal:
    return {type(value) for value in typing.get_args(hint)}
  kinds = set(typing.get_args(hint)) or {hint}
  return kinds | {int} if float in kinds else kinds
