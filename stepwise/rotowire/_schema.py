"""The paper's templates, shipped with the package."""

import functools
import importlib.resources

from stepwise.tables import Schema, load_schema


@functools.cache
def rotowire_schema() -> Schema:
  """Sentences of the entries of Rotowire box scores."""
  return _load('templates.toml')


@functools.cache
def role_schema() -> Schema:
  """Those of `role_table`."""
  return _load('planner.toml')


def _load(name: str) -> Schema:
  source = importlib.resources.files('stepwise.rotowire') / name
  with importlib.resources.as_file(source) as path:
    return load_schema(path)
