"""Template files: parsing, defaults and mistakes."""

import json

import pytest

from stepwise._errors import InputError
from stepwise.tables import Column, load_schema


@pytest.mark.parametrize('suffix', ['toml', 'json'])
def test_both_formats_say_the_same(tmp_path, suffix):
  path = tmp_path / f'templates.{suffix}'
  content = {
    'title': 'Towns',
    'kinds': {'town': {'templates': {'area': '{entity}: {value}'}}},
  }
  toml = "title = 'Towns'\n[kinds.town.templates]\narea = '{entity}: {value}'\n"
  path.write_text(toml if suffix == 'toml' else json.dumps(content))
  schema = load_schema(path)
  assert schema.title == 'Towns'
  assert schema.kinds['town'].templates == {'area': '{entity}: {value}'}
  assert schema.missing == {''}


def test_columns_of_numbers(tmp_path):
  path = tmp_path / 'templates.toml'
  path.write_text(TOWNS)
  kind = load_schema(path).kinds['town']
  assert (kind.noun, kind.entity) == ('town', 'name')
  assert kind.columns['area'] == Column(
    label='area', unit='km²', better='none', aggregates=('total',), main=True
  )


TOWNS = """\
title = 'Towns'

[kinds.town]
noun = 'town'
entity = 'name'

[kinds.town.columns.area]
label = 'area'
unit = 'km²'
better = 'none'
aggregates = ['total']
main = true
"""


@pytest.mark.parametrize(
  ('old', 'new', 'line', 'message'),
  [
    ("title = 'Towns'", 'title = Towns', None, 'not a template file'),
    ("title = 'Towns'", 'titel = 1', 1, "not 'titel'"),
    ("noun = 'town'", 'noun = 3', 4, "'noun' must be text"),
    ("unit = 'km²'", "units = 'km'", 9, "column 'area' must be an object"),
    ("better = 'none'", "better = 'up'", 10, "'better' is 'up'"),
    ("['total']", "['sum']", 11, r"'aggregates' has \['sum'\]"),
    ("['total']", "'total'", 11, 'must be a list of texts'),
    ('main = true', 'main = 1', 12, "'main' must be true or false"),
    ("label = 'area'", "say = '{it}'", 8, r"names \['it'\]; \['value'\] exist"),
    ("label = 'area'", "say = '{'", 8, 'is no template'),
    ("entity = 'name'", "repeatable = ['x']", 5, r"no template of \['x'\]"),
  ],
)
def test_mistakes_name_the_line(tmp_path, old, new, line, message):
  path = tmp_path / 'templates.toml'
  assert old in TOWNS
  path.write_text(TOWNS.replace(old, new))
  with pytest.raises(InputError, match=message) as error:
    load_schema(path)
  where = f'{path}:{line}: ' if line else f'{path}: not a template file'
  assert str(error.value).startswith(where)


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
