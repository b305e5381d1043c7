"""Servers that really listen, in a thread or in a process of their own."""

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

import uvicorn
from starlette.applications import Starlette

from stepwise.serve import make_app


@contextlib.contextmanager
def serving(app: Starlette | None = None) -> Iterator[str]:
  """The address of a server of this process."""
  server = uvicorn.Server(
    uvicorn.Config(app or make_app(), port=0, log_level='warning')
  )
  thread = threading.Thread(target=server.run)
  thread.start()
  try:
    for _ in range(600):
      if server.started:
        break
      time.sleep(0.05)
    (listener,) = server.servers[0].sockets
    yield f'http://127.0.0.1:{listener.getsockname()[1]}'
  finally:
    server.should_exit = True
    thread.join()


@contextlib.contextmanager
def process(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
  """`stepwise serve` as people start it, and the address that it tells."""
  command = [sys.executable, '-m', 'stepwise.cli.main', 'serve', *arguments]
  started = subprocess.Popen(
    command, stderr=subprocess.PIPE, text=True, env={**os.environ}
  )
  assert started.stderr is not None
  try:
    line = ''
    while 'http://' not in line:
      line = started.stderr.readline()
      assert line, 'the server ended'
    yield started, line.split()[-1].rstrip('/')
  finally:
    started.kill()
    started.wait()
    started.stderr.close()


def post(address: str, path: str, body: object) -> tuple[int, dict]:
  """Status and content of an answer."""
  request = urllib.request.Request(
    f'{address}{path}',
    json.dumps(body).encode(),
    {'Content-Type': 'application/json'},
  )
  try:
    with urllib.request.urlopen(request, timeout=120) as answer:
      return answer.status, json.load(answer)
  except urllib.error.HTTPError as error:
    with error:
      return error.code, json.load(error)


def get(address: str, path: str) -> str:
  with urllib.request.urlopen(f'{address}{path}', timeout=120) as answer:
    return answer.read().decode()
