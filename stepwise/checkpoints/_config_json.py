"""Configurations as JSON: frozen dataclasses of dataclasses, and back.

The outermost object is tagged with its type; those inside are of the types
that fields are annotated with. Reading is strict, so that a bundle is never
half understood: nothing unknown, nothing missing but what has a default, which
is how a field that came later was before.
"""

import dataclasses
import typing
from typing import Any

import jax.numpy as jnp

from stepwise._errors import InputError
from stepwise._typing import DTypeLike
from stepwise.decoding import DecodeConfig
from stepwise.inference import PredictConfig
from stepwise.models import ModelConfig, find_kind, stored_name

_DTYPE = DTypeLike | None


def config_to_json(config: ModelConfig) -> dict[str, Any]:
  """`{'type': ..., 'fields': {...}}`, of JSON values only."""
  return {'type': stored_name(config), 'fields': _encode(config)}


def config_from_json(where: str, values: Any) -> Any:
  """The configuration; `where` is named if anything is wrong."""
  if not isinstance(values, dict) or values.keys() != {'type', 'fields'}:
    raise InputError(f'{where}: a configuration is an object of type, fields.')
  try:
    kind = find_kind(values['type'])
  except InputError as error:
    raise InputError(f'{where}: {error}') from error
  return _decode(where, kind, values['fields'])


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
  for name, hint in _hints(type(config)).items():
    value = getattr(config, name)
    if dataclasses.is_dataclass(value):
      value = _encode(value)
    elif hint == _DTYPE and value is not None:
      value = jnp.dtype(value).name
    encoded[name] = value
  return encoded


def _decode(where: str, cls: type, values: Any) -> Any:
  if not isinstance(values, dict):
    raise InputError(f'{where} must be an object of the {cls.__name__}.')
  hints = _hints(cls)
  lacking, unknown = _needed(cls) - values.keys(), values.keys() - hints.keys()
  if lacking or unknown:
    raise InputError(
      f'{where}: {cls.__name__} lacks {sorted(lacking)} and has unknown '
      f'{sorted(unknown)}.'
    )
  fields = {
    name: _decode_field(
      f'{where}: {cls.__name__}.{name}', hints[name], values[name]
    )
    for name in values
  }
  try:
    return cls(**fields)
  except ValueError as error:
    raise InputError(f'{where}: {error}') from error


def _hints(cls: type) -> dict[str, Any]:
  """Types of the fields; `get_type_hints` has those of base classes too."""
  hints = typing.get_type_hints(cls)
  return {f.name: hints[f.name] for f in dataclasses.fields(cls)}


def _needed(cls: type) -> set[str]:
  return {
    field.name
    for field in dataclasses.fields(cls)
    if field.default is field.default_factory is dataclasses.MISSING
  }


def _decode_field(where: str, hint: Any, value: Any) -> Any:
  parts = [part for part in typing.get_args(hint) if part is not type(None)]
  if len(parts) == 1 and dataclasses.is_dataclass(parts[0]):
    part = typing.cast(type, parts[0])
    return None if value is None else _decode(where, part, value)
  if dataclasses.is_dataclass(hint):
    return _decode(where, typing.cast(type, hint), value)
  if hint == _DTYPE:
    return _decode_dtype(where, value)
  if typing.get_origin(hint) is tuple:
    item, _ = typing.get_args(hint)
    if not isinstance(value, list | tuple):
      raise InputError(f'{where} is {value!r}; a list is needed.')
    return tuple(_decode_field(where, item, part) for part in value)
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
