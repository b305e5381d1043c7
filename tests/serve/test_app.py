"""What the server answers is what the library gives; what it refuses."""

import base64
import json
import re
import threading
import time

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

import stepwise
from stepwise.documents import split_sentences
from stepwise.rotowire import game_table, read_games, sample_game
from stepwise.serve import Limits, ServeConfig, make_app
from stepwise.serve._queue import Job
from stepwise.summarization import default_folder, sample_article
from stepwise.tables import plan_table, report_table
from tests.serve.test_queue import Gate

HERE = 'http://127.0.0.1'
TEXT = 'It rained all day. The match was called off. Nobody minded.'
TABLE = [
  {'city': 'Ashford', 'rain': 12, 'sun': 3},
  {'city': 'Brook', 'rain': 48, 'sun': 1},
  {'city': 'Cliff', 'rain': 7, 'sun': 9},
]
# Long enough to be waited for, and no longer.
LONG = ' '.join(f'Word{i} and word{i + 1} met word{i % 7}.' for i in range(900))


def opened(**config):
  return TestClient(make_app(ServeConfig(**config)), base_url=HERE)


@pytest.fixture(scope='module')
def client():
  with opened() as found:
    yield found


def error(response):
  found = response.json()
  assert set(found) == {'error'}
  return response.status_code, found['error']


def test_a_summary_is_that_of_the_library(client):
  wishes = {'sentences': 2, 'model': 'lexrank', 'order': 'selection'}
  found = client.post(
    '/api/summarize', json={'text': sample_article(), 'id': 'a', **wishes}
  )
  assert found.status_code == 200
  expected = stepwise.summarize(sample_article(), **wishes)
  assert found.json() == {'id': 'a', **expected.to_dict()}


@pytest.mark.skipif(
  not default_folder().is_dir(), reason='this checkout has no default model'
)
def test_the_packaged_model_tells_its_steps(client):
  # The same text and wishes as elsewhere: nothing is compiled for this.
  asked = {'text': sample_article(), 'page': True}
  accept = {'accept': 'text/event-stream'}
  stream = client.post('/api/summarize', json=asked, headers=accept)
  *_, (name, found) = events(stream.text)
  assert name == 'summary', found
  page = found.pop('page')
  assert found == stepwise.summarize(sample_article()).to_dict()
  assert page.count('class="step"') == len(found['steps'])
  assert [step['number'] for _, step in events(stream.text)[1:-1]] == [
    step['number'] for step in found['steps']
  ]


def test_sentences_stay_as_they_are_given(client):
  asked = {'text': ['One. Two.', 'Three.'], 'model': 'lead', 'sentences': 1}
  found = client.post('/api/summarize', json=asked)
  assert found.json()['summary'] == ['One. Two.']


def test_a_file_is_read_by_its_name(client):
  data = base64.b64encode(b'# It rained\n\nAll day. And all night.').decode()
  asked = {'file': {'name': 'a.md', 'data': data}, 'model': 'lead'}
  found = client.post('/api/summarize', json=asked)
  assert found.json()['summary'] == ['All day.', 'And all night.']


def test_the_name_of_a_file_is_a_text(client, tmp_path):
  """Nothing of the machine is read, whatever a request names."""
  secret = tmp_path / 'secret.txt'
  secret.write_text('The password is swordfish.')
  for name in (str(secret), secret.as_uri(), 'http://127.0.0.1/secret.txt'):
    found = client.post('/api/summarize', json={'text': name, 'model': 'lead'})
    assert found.status_code == 200
    assert 'swordfish' not in found.text
  empty = {'file': {'name': str(secret), 'data': ''}, 'model': 'lead'}
  assert error(client.post('/api/summarize', json=empty)) == (
    422,
    'there is no text in it.',
  )
  assert error(
    client.post('/api/summarize', json={'text': 'a', 'model': str(tmp_path)})
  )[0] == (422)
  for path in ('plan', 'report'):
    asked = {'text': str(secret), 'name': str(secret)}
    found = client.post(f'/api/{path}', json=asked)
    assert found.status_code == 422
    assert 'swordfish' not in found.text


def test_lines_are_answered_in_their_order(client):
  asked = [
    *({'text': f'Number {i}. Last.', 'id': str(i)} for i in range(40)),
    {'text': ''},
    {'text': 'a. b.', 'must_include': [9]},
  ]
  body = '\n'.join(
    json.dumps({'model': 'lead', 'sentences': 1, **each}) for each in asked
  )
  found = client.post(
    '/api/summarize/lines',
    content=f'{body}\nnot json\n',
    headers={'content-type': 'application/x-ndjson'},
  )
  assert found.headers['content-type'].startswith('application/x-ndjson')
  rows = [json.loads(line) for line in found.text.splitlines()]
  assert [row['summary'] for row in rows[:40]] == [
    [f'Number {i}.'] for i in range(40)
  ]
  assert [row['id'] for row in rows[:40]] == [str(i) for i in range(40)]
  told = [row['error'] for row in rows[40:]]
  assert [re.split(r'[,:;]', each)[0] for each in told] == [
    "text is ''",
    'must_include has sentence 9',
    'not JSON',
  ]


def events(text):
  pairs = re.findall(r'event: (\w+)\ndata: (.*)\n\n', text)
  return [(name, json.loads(data)) for name, data in pairs]


def test_steps_are_streamed(client):
  asked = {'text': TEXT, 'model': 'lexrank', 'sentences': 2, 'page': True}
  accept = {'accept': 'text/event-stream'}
  stream = client.post('/api/summarize', json=asked, headers=accept)
  found = events(stream.text)
  assert [name for name, _ in found] == ['document', 'step', 'step', 'summary']
  summary = found[-1][1]
  page = summary.pop('page')
  assert page.startswith('<!doctype html>')
  whole = client.post('/api/summarize', json={**asked, 'page': False})
  assert summary == whole.json()
  assert found[0][1]['sentences'] == 3
  for (_, step), expected in zip(found[1:-1], summary['steps'], strict=True):
    text = TEXT[slice(*split_sentences(TEXT)[step['number'] - 1])]
    assert step == expected | {'text': text}
  bad = client.post(
    '/api/summarize', json={'text': ' ', 'model': 'lead'}, headers=accept
  )
  assert events(bad.text) == [
    ('error', {'error': 'the text is empty: there is nothing to summarise.'})
  ]


def test_plans_and_reports_are_those_of_the_library(client):
  csv = 'city,rain,sun\n' + '\n'.join(
    ','.join(map(str, row.values())) for row in TABLE
  )
  for asked in ({'table': TABLE}, {'text': csv, 'name': 'table.csv'}):
    wishes = {'entries': 4, 'about': ['rain']}
    plan = client.post('/api/plan', json=asked | wishes)
    assert plan.json() == plan_table(TABLE, **wishes).to_dict()
    report = client.post('/api/report', json=asked | wishes | {'words': 40})
    expected = report_table(TABLE, **wishes, words=40).to_dict()
    assert report.json() == expected


def test_a_game_is_planned_and_written_about(client):
  game = json.loads(sample_game().read_text())
  asked = {'game': game[0] if isinstance(game, list) else game}
  asked |= {'model': 'salience'}
  plan = client.post('/api/plan', json=asked).json()['plan']
  report = client.post('/api/report', json=asked | {'page': True}).json()
  assert report['page'].startswith('<!doctype html>')
  planned, said = (
    {tuple(entry) for sentence in each for entry in sentence}
    for each in (plan, report['plan'])
  )
  # Names follow by a rule; a report adds what people say, all of it true.
  assert {entry for entry in planned if 'NAME' not in entry[2]} <= said
  table = game_table(next(iter(read_games(sample_game()))))
  assert said <= planned | {tuple(entry.relation) for entry in table.entries}
  assert report['text']


@pytest.mark.parametrize(
  ('path', 'asked', 'status', 'message'),
  [
    ('summarize', b'{', 400, 'not JSON: '),
    ('summarize', b'\xff', 400, 'not UTF-8 text: byte 0.'),
    ('summarize', b'{"text": "\\ud800"}', 400, 'half a surrogate pair'),
    ('summarize', b'{"text": NaN}', 400, 'NaN is no number of JSON'),
    ('summarize', b'[' * 100000, 400, 'nested too deeply'),
    ('summarize', {}, 422, 'must have one of text, file'),
    ('summarize', {'text': 'a', 'length': 3}, 422, "'length' was unexpected"),
    ('summarize', {'text': 'a', 'model': 'b'}, 422, 'must be one of'),
    ('summarize', {'text': 'a', 'words': 0}, 422, 'minimum 1'),
    ('summarize', {'text': 3}, 422, 'text is 3'),
    ('summarize', {'text': 'a', 'words': 3, 'ratio': 0.5}, 422, 'together'),
    ('summarize', {'file': {'name': 'a', 'data': '?'}}, 422, 'not base64'),
    ('summarize', {'file': {'name': 'a.zip', 'data': ''}}, 422, 'ends in one'),
    ('plan', {'table': [1]}, 422, ''),
    ('plan', {'table': TABLE, 'model': 'default'}, 422, 'plans games'),
    ('report', {'game': {}}, 422, 'home_line'),
    ('report', {'game': {}, 'words': 3}, 422, 'words is for tables'),
  ],
)
def test_mistakes_are_one_sentence(client, path, asked, status, message):
  body = asked if isinstance(asked, bytes) else json.dumps(asked).encode()
  found = client.post(
    f'/api/{path}', content=body, headers={'content-type': 'application/json'}
  )
  told = error(found)
  assert told[0] == status
  assert message in told[1]


def test_other_types_paths_and_methods_are_refused(client):
  found = client.post('/api/summarize', data={'text': 'a'})
  assert error(found)[0] == 415
  assert error(client.get('/api/absent')) == (404, '/api/absent: Not Found.')
  assert error(client.get('/api/summarize'))[0] == 405


def test_every_answer_is_safe(client):
  for path in ('/', '/app.js', '/app.css', '/api/models', '/api/absent'):
    headers = client.get(path).headers
    assert headers['content-security-policy'].startswith("default-src 'none'")
    assert headers['x-content-type-options'] == 'nosniff'
    assert headers['referrer-policy'] == 'no-referrer'
    assert 'set-cookie' not in headers


def test_other_sites_are_refused(client):
  """Also those whose name leads to this machine."""
  for headers in (
    {'origin': 'https://elsewhere.example'},
    {'origin': 'null'},
    {'host': 'elsewhere.example'},
  ):
    found = client.post('/api/summarize', json={'text': 'a'}, headers=headers)
    assert error(found)[0] == 403
  for host in ('localhost:80', '127.0.0.1', '[::1]:8765'):
    assert client.get('/api/health', headers={'host': host}).status_code == 200
  same = {'origin': 'http://127.0.0.1'}
  found = client.post(
    '/api/summarize', json={'text': 'a', 'model': 'lead'}, headers=same
  )
  assert found.status_code == 200


def test_a_token_is_asked_for():
  with opened(token='s3cret') as client:
    for headers in ({}, {'authorization': 'Bearer other'}):
      found = client.get('/api/models', headers=headers)
      assert error(found)[0] == 401
      assert found.headers['www-authenticate'] == 'Bearer'
    known = {'authorization': 'Bearer s3cret', 'host': 'any.example'}
    assert client.get('/api/models', headers=known).status_code == 200
    # Nothing is in them.
    for path in ('/', '/api/health'):
      assert client.get(path).status_code == 200


def test_what_is_too_large_is_refused():
  limits = Limits(body=500, sentences=3)
  with opened(limits=limits) as client:
    found = client.post('/api/summarize', json={'text': 'a' * 500})
    assert error(found) == (
      413,
      'the body is above 500 bytes, which is the limit.',
    )

    def parts():
      yield b'{"text": "' + b'a' * 300
      yield b'a' * 300 + b'"}'

    found = client.post(
      '/api/summarize',
      content=parts(),
      headers={'content-type': 'application/json'},
    )
    assert error(found)[0] == 413
    many = {'text': 'One. Two. Three. Four.', 'model': 'lead'}
    assert error(client.post('/api/summarize', json=many)) == (
      413,
      'there are 4 sentences, at most 3 are taken.',
    )
    table = {'table': TABLE}
    assert error(client.post('/api/plan', json=table))[0] == 413


def test_what_takes_too_long_is_given_up():
  with opened(limits=Limits(seconds=1e-6)) as client:
    found = client.post('/api/summarize', json={'text': LONG})
    assert error(found) == (504, 'it took more than 1e-06 seconds.')


def metric(client, name, **labels):
  text = client.get('/api/metrics').text
  for family in text_string_to_metric_families(text):
    for sample in family.samples:
      if sample.name == name and labels.items() <= sample.labels.items():
        return sample.value
  raise AssertionError(f'{name} {labels} is not among the metrics')


def wait_for(condition):
  for _ in range(600):
    if condition():
      return
    time.sleep(0.05)
  raise AssertionError('it never came')


def test_a_full_queue_refuses_and_says_when_to_come_back():
  app, gate = make_app(ServeConfig(limits=Limits(queue=1))), Gate()
  short = {'text': 'a', 'model': 'lead'}
  with TestClient(app, base_url=HERE) as client:
    app.state.batcher.submit(Job('gate', 0, 'x', gate))
    first = threading.Thread(
      target=client.post, args=['/api/summarize'], kwargs={'json': short}
    )
    first.start()
    wait_for(lambda: metric(client, 'stepwise_waiting') == 1)
    for headers in ({}, {'accept': 'text/event-stream'}):
      found = client.post('/api/summarize', json=short, headers=headers)
      assert error(found)[0] == 429
      assert int(found.headers['retry-after']) >= 1
    gate.open.set()
    first.join()
    assert client.post('/api/summarize', json=short).status_code == 200
    path = {'path': '/api/summarize'}
    refused = metric(client, 'stepwise_requests_total', status='429', **path)
    assert refused == 2
    assert metric(client, 'stepwise_request_seconds_count', **path) == 4


def test_models_and_description_agree(client):
  models = client.get('/api/models').json()
  described = client.get('/api/openapi.json').json()
  schemas = described['components']['schemas']
  for kind, name in (('texts', 'SummaryRequest'), ('tables', 'PlanRequest')):
    names = [model['name'] for model in models[kind]]
    assert schemas[name]['properties']['model']['enum'] == names
  assert {'auto', 'default', 'lead'} <= {m['name'] for m in models['texts']}
