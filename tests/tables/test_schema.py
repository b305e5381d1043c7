"""Template files: parsing, defaults and mistakes."""

import json

import pytest

from stepwise._errors import InputError
from stepwise.tables import load_schema


@pytest.mark.parametrize('suffix', ['toml', 'json'])
def test_both_formats_say_the_same(tmp_path, suffix):
  path = tmp_path / f'templates.{suffix}'
  content = {
    'entity': 'city',
    'kinds': {'town': {'templates': {'area': '{entity}: {value}'}}},
  }
  toml = "entity = 'city'\n[kinds.town.templates]\narea = '{entity}: {value}'\n"
  path.write_text(toml if suffix == 'toml' else json.dumps(content))
  schema = load_schema(path)
  assert schema.entity == 'city'
  assert schema.kinds['town'].templates == {'area': '{entity}: {value}'}
  assert schema.missing == {''}


@pytest.mark.parametrize(
  ('content', 'message'),
  [
    ('{', 'not a template file'),
    ('[]', 'must be an object with keys'),
    ('{"kinds": {}}', "'kinds' must have at least one"),
    ('{"kind_s": {}}', 'must be an object with keys'),
    ('{"kinds": {"a": {"templates": {}}}}', "kind 'a' must have 'templates'"),
    (
      '{"kinds": {"a": {"templates": {"x": "y"}, "repeatable": ["z"]}}}',
      r"kind 'a' has no template of \['z'\]",
    ),
  ],
)
def test_mistakes_name_file_and_key(tmp_path, content, message):
  path = tmp_path / 'templates.json'
  path.write_text(content)
  with pytest.raises(InputError, match=message) as error:
    load_schema(path)
  assert str(path) in str(error.value)
