"""A server that listens: clients that leave, stops, kills, loads."""

import json
import os
import signal
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from typer.testing import CliRunner

from stepwise._errors import InputError
from stepwise.cli.main import app
from stepwise.serve import ServeConfig, is_local, make_app, run_server
from stepwise.serve._queue import Job
from tests.serve.servers import get, post, process, serving
from tests.serve.test_app import LONG, wait_for
from tests.serve.test_queue import Gate

SHORT = {'text': 'It rained. We left.', 'model': 'lead', 'sentences': 1}


def counted(address, name):
  """A metric without labels."""
  lines = get(address, '/api/metrics').splitlines()
  (value,) = (line.split()[1] for line in lines if line.startswith(f'{name} '))
  return float(value)


def send(address, body, accept='application/json'):
  """A request whose answer nobody reads yet."""
  host, port = address.removeprefix('http://').split(':')
  content = json.dumps(body).encode()
  client = socket.create_connection((host, int(port)), timeout=60)
  head = (
    f'POST /api/summarize HTTP/1.1\r\nHost: {host}:{port}\r\n'
    f'Content-Type: application/json\r\nAccept: {accept}\r\n'
    f'Content-Length: {len(content)}\r\n\r\n'
  )
  client.sendall(head.encode() + content)
  return client


@pytest.mark.parametrize('accept', ['application/json', 'text/event-stream'])
def test_a_client_that_leaves_takes_its_request_back(accept):
  app, gate = make_app(), Gate()
  with serving(app) as address:
    app.state.batcher.submit(Job('gate', 0, 'x', gate))
    gate.begun.wait(60)
    client = send(address, SHORT, accept)
    wait_for(lambda: counted(address, 'stepwise_waiting') == 1)
    client.close()
    wait_for(lambda: counted(address, 'stepwise_in_flight') == 0)
    gate.open.set()
    wait_for(lambda: counted(address, 'stepwise_cancelled_total') == 1)
    # The gate alone.
    assert counted(address, 'stepwise_batch_documents_sum') == 1


def test_a_stop_answers_what_was_accepted():
  app, gate = make_app(), Gate()
  with ThreadPoolExecutor(6) as pool:
    with serving(app) as address:
      app.state.batcher.submit(Job('gate', 0, 'x', gate))
      found = [
        pool.submit(post, address, '/api/summarize', SHORT) for _ in range(6)
      ]
      wait_for(lambda: counted(address, 'stepwise_waiting') == 6)
      # While the server is told to stop.
      threading.Timer(0.3, gate.open.set).start()
    assert [each.result(60)[0] for each in found] == [200] * 6
  with pytest.raises(OSError):
    get(address, '/api/health')


def test_a_port_that_is_taken_is_told():
  with serving() as address:
    port = int(address.rpartition(':')[2])
    with pytest.raises(InputError, match='something else listens there'):
      run_server(ServeConfig(), '127.0.0.1', port)


def test_only_loopback_is_local():
  assert all(map(is_local, ('127.0.0.1', '127.1.2.3', 'localhost', '::1')))
  others = ('0.0.0.0', '::', '192.168.0.7', 'example.org', '')
  assert not any(map(is_local, others))


def test_a_folder_that_is_no_model_is_refused(tmp_path):
  arguments = ['serve', '--bundle', str(tmp_path)]
  with pytest.raises(InputError, match='is not the folder of a model'):
    CliRunner().invoke(app, arguments, catch_exceptions=False)


@pytest.mark.slow
def test_a_server_that_is_killed_starts_again():
  with process('--port', '0') as (running, address):
    assert post(address, '/api/summarize', SHORT)[0] == 200
    clients = [send(address, {'text': LONG}) for _ in range(4)]
    running.send_signal(signal.SIGKILL)
    running.wait()
    for client in clients:
      client.close()
  port = address.rpartition(':')[2]
  with process('--port', port) as (running, again):
    assert again == address
    status, found = post(address, '/api/summarize', SHORT)
    assert (status, found['summary']) == (200, ['It rained.'])
    # And one that is told to stop ends by itself.
    with ThreadPoolExecutor(4) as pool:
      asked = {'text': LONG, 'model': 'textrank'}
      found = [
        pool.submit(post, address, '/api/summarize', asked) for _ in range(4)
      ]
      wait_for(lambda: counted(address, 'stepwise_in_flight') == 4)
      running.send_signal(signal.SIGTERM)
      assert [each.result(60)[0] for each in found] == [200] * 4
    assert running.wait(60) in (0, -signal.SIGTERM)


@pytest.mark.slow
def test_an_open_address_has_a_token():
  with process('--host', '0.0.0.0', '--port', '0') as (_, told):
    address, _, token = told.partition('/#token=')
    here = address.replace('0.0.0.0', '127.0.0.1')
    assert post(here, '/api/summarize', SHORT)[0] == 401
    assert len(token) >= 24
    assert os.environ.get('STEPWISE_TOKEN') is None


@pytest.mark.slow
# What a library does at its own import.
@pytest.mark.filterwarnings('ignore::DeprecationWarning')
def test_the_description_holds():
  """Whatever follows the description is answered as it says, and no 500."""
  import schemathesis
  from hypothesis import HealthCheck, Phase, given, settings
  from schemathesis import checks
  from schemathesis.specs.openapi import checks as described

  @schemathesis.serializer('application/x-ndjson')
  def lines(context, value):
    return str(value).encode('utf-8', 'replace')

  held = (
    checks.not_a_server_error,
    described.status_code_conformance,
    described.content_type_conformance,
    described.response_schema_conformance,
    described.negative_data_rejection,
  )
  with serving() as address:
    schema = schemathesis.openapi.from_url(f'{address}/api/openapi.json')
    operations = [each.ok() for each in schema.get_all_operations()]
    # All but the description itself.
    assert len(operations) == 7
    modes = schemathesis.GenerationMode
    for operation in operations:
      follows = operation.as_strategy(generation_mode=modes.POSITIVE)
      breaks = operation.as_strategy(generation_mode=modes.NEGATIVE)
      # Any text is lines, and a bad one is answered in its place.
      breakable = operation.body and 'lines' not in operation.path
      both = follows | breaks if breakable else follows

      @settings(
        max_examples=80,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
      )
      @given(case=both)
      def run(case):
        if isinstance(case.body, dict) and 'model' not in case.body:
          case.body['model'] = 'lead' if 'summ' in case.path else 'salience'
        case.call_and_validate(checks=list(held))

      run()
