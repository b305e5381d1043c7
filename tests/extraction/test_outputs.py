"""Files of texts, plans and relations about games."""

import json

import pytest

from stepwise._errors import InputError
from stepwise.extraction import oracle_plan, parse_tuple, read_outputs
from stepwise.rotowire import parse_game
from stepwise.tables import Relation, plan_to_json
from tests.rotowire.games import game_fields


@pytest.fixture(scope='module')
def games():
  return [parse_game(game_fields()), parse_game(game_fields())]


def write(tmp_path, name, content):
  path = tmp_path / name
  path.write_text(content)
  return path


def test_texts_one_a_line(tmp_path, games):
  path = write(tmp_path, 'out.txt', 'Easton won .\n\n')
  outputs = read_outputs(path, games)
  assert (outputs.kind, outputs.texts) == ('text', ('Easton won .', ''))


def test_texts_as_report_prints_them(tmp_path, games):
  path = write(tmp_path, 'out.txt', 'Easton won .\n\nThey lost .\n')
  assert read_outputs(path, games).texts == ('Easton won .', 'They lost .')


def test_texts_in_json_lines(tmp_path, games):
  rows = [{'prediction': ['Easton', 'won .']}, {'text': 'They lost .'}]
  path = write(tmp_path, 'out.jsonl', '\n'.join(map(json.dumps, rows)))
  assert read_outputs(path, games).texts == ('Easton won .', 'They lost .')


def test_plans_come_back_as_written(tmp_path, games):
  plan = oracle_plan(games[0])
  lines = [plan_to_json(plan, id='a'), plan_to_json(())]
  outputs = read_outputs(write(tmp_path, 'p.jsonl', '\n'.join(lines)), games)
  assert outputs.kind == 'plan'
  assert outputs.plans == (plan, ())


def test_relations_of_the_field_in_the_words_of_the_table(tmp_path, games):
  content = '\nHerons|104|TEAM-PTS\nLund|thirty-one|PLAYER-PTS\n\n'
  outputs = read_outputs(write(tmp_path, 'x.h5-tuples.txt', content), games)
  assert outputs.kind == 'tuples'
  assert outputs.plans == (
    (
      (
        Relation('Easton Herons', '104', 'TEAM-PTS'),
        Relation('J.T. Lund', '31', 'PLAYER-PTS'),
      ),
    ),
    ((),),
  )


def test_relations_keep_their_strings(tmp_path, games):
  content = '\nHerons|104|TEAM-PTS\nLund|thirty-one|PLAYER-PTS\n\n'
  rows = [
    {'entity_text': 'Herons', 'value_text': '104', 'type': 'TEAM-PTS'},
    {'entity_text': 'Lund', 'value_text': 'thirty-one', 'type': 'PLAYER-PTS'},
  ]
  tuples = read_outputs(write(tmp_path, 'x.h5-tuples.txt', content), games)
  records = read_outputs(
    write(tmp_path, 'x.json', json.dumps([rows, []])), games
  )
  assert tuples == records
  assert records.strings[0][1] == ('Lund', 'thirty-one', 'PLAYER-PTS')
  assert records.after(1).strings == ((),)


def test_names_and_values_that_are_not_in_the_table_stay(games):
  relation = parse_tuple('Nobody|many|PLAYER-PTS', games[0])
  assert relation == ('Nobody', 'many', 'PLAYER-PTS')


@pytest.mark.parametrize(
  ('name', 'content', 'message'),
  [
    ('a.txt', 'one\n', '1 texts for 2 games'),
    ('a.jsonl', '{}\n', '1 lines for 2 games'),
    ('a.jsonl', '{\n{}\n', r'a.jsonl:1: Expecting'),
    ('a.jsonl', '{}\n{}\n', "a.jsonl:1: an object with 'plan' or one of"),
    ('a.jsonl', '{"text": [3]}\n{}\n', 'a string or a list of strings'),
    ('a.jsonl', '{"plan": []}\n{}\n', "a.jsonl:2: 'plan' must be a list"),
    ('a.jsonl', '{"plan": [[["x"]]]}\n{}\n', "a.jsonl:1: 'plan' must be"),
    ('tuples.txt', 'a|1|b\n', 'tuples.txt:1: a blank line must open'),
    ('tuples.txt', '\na|1\n\n', "tuples.txt:2: 'a|1' is not entity"),
    ('tuples.txt', '\n', '1 games for 2 games'),
    ('a.json', '{', 'a.json: not JSON'),
    ('a.json', '{}', 'a list with a list for every game'),
    ('a.json', '[[{}], []]', "a.json:1: {} is not a relation: 'entity_text'"),
  ],
)
def test_mistakes(tmp_path, games, name, content, message):
  with pytest.raises(InputError, match=message):
    read_outputs(write(tmp_path, name, content), games)
