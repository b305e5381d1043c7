"""Headless Chromium by the WebDriver protocol, without a library for it."""

import base64
import contextlib
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which('chromium') or shutil.which('chromium-browser')
DRIVER = shutil.which('chromedriver')
needs_browser = pytest.mark.skipif(
  CHROMIUM is None or DRIVER is None,
  reason='no chromium and chromedriver (Debian: chromium, chromium-driver)',
)
_FLAGS = [
  *('--headless', '--no-sandbox', '--disable-gpu', '--disable-quic'),
  *('--no-first-run', '--disable-background-networking'),
  *('--disable-component-update', '--disable-sync', '--hide-scrollbars'),
]


class Browser:
  """A session; elements are found by CSS selectors."""

  def __init__(self, address: str):
    self._address = address
    self._session = ''

  def open(self, profile: str, *flags: str) -> None:
    options = {
      'binary': CHROMIUM,
      'args': [*_FLAGS, f'--user-data-dir={profile}', *flags],
    }
    capabilities = {
      'goog:chromeOptions': options,
      'goog:loggingPrefs': {'performance': 'ALL', 'browser': 'ALL'},
    }
    body = {'capabilities': {'alwaysMatch': capabilities}}
    self._session = f'/session/{self._call("", "POST", body)["sessionId"]}'
    # Some builds begin with a page of their own: what that asks is not ours.
    self._post('/url', url='about:blank')
    self.log('performance')

  def close(self) -> None:
    if self._session:
      self._call(self._session, 'DELETE')

  def load(self, page: Path | str, width: int, height: int) -> None:
    """Opens a file or an address in a window of that size.

    Whatever the least size of a window is.
    """
    self.devtools(
      'Emulation.setDeviceMetricsOverride',
      width=width,
      height=height,
      deviceScaleFactor=1,
      mobile=width < 500,
    )
    # A window that is not in front takes no keys; without a screen, which one
    # is in front is a matter of luck.
    self.devtools('Emulation.setFocusEmulationEnabled', enabled=True)
    address = page if isinstance(page, str) else page.as_uri()
    self._post('/url', url=address)
    self.wait_for('return document.hasFocus()')
    # Two frames: what is not painted yet takes no keys either.
    self.wait(
      'const done = arguments[0];'
      ' requestAnimationFrame(() => requestAnimationFrame(() => done()));'
    )

  def devtools(self, command: str, **parameters: Any) -> Any:
    return self._post('/goog/cdp/execute', cmd=command, params=parameters)

  def run(self, script: str, *arguments: Any) -> Any:
    return self._post('/execute/sync', script=script, args=list(arguments))

  def wait(self, script: str, *arguments: Any) -> Any:
    """Runs a script whose last argument is called with the result."""
    return self._post('/execute/async', script=script, args=list(arguments))

  def press(self, *keys: str) -> None:
    actions = [
      {'type': kind, 'value': key}
      for key in keys
      for kind in ('keyDown', 'keyUp')
    ]
    source = {'type': 'key', 'id': 'keyboard', 'actions': actions}
    self._post('/actions', actions=[source])

  def point(self, selector: str, *, click: bool = False) -> None:
    move = {
      'type': 'pointerMove',
      'duration': 0,
      'x': 0,
      'y': 0,
      'origin': self._post('/element', using='css selector', value=selector),
    }
    buttons = [{'type': 'pointerDown', 'button': 0}]
    buttons += [{'type': 'pointerUp', 'button': 0}]
    source = {
      'type': 'pointer',
      'id': 'mouse',
      'actions': [move, *(buttons if click else [])],
    }
    self._post('/actions', actions=[source])

  def screenshot(self, path: Path) -> None:
    path.write_bytes(
      base64.b64decode(self._call(f'{self._session}/screenshot', 'GET'))
    )

  def enter(self, selector: str) -> None:
    """Goes into a frame; `leave` goes back."""
    frame = self._post('/element', using='css selector', value=selector)
    self._post('/frame', id=frame)

  def leave(self) -> None:
    self._post('/frame', id=None)

  def type(self, selector: str, text: str) -> None:
    element = self._post('/element', using='css selector', value=selector)
    (name,) = element.values()
    self._post(f'/element/{name}/value', text=text)

  def log(self, kind: str) -> list[Any]:
    return self._post('/se/log', type=kind)

  def wait_for(self, script: str) -> None:
    for _ in range(300):
      if self.run(script):
        return
      time.sleep(0.1)
    raise RuntimeError(f'{script} stays false')

  def _post(self, what: str, **body: Any) -> Any:
    return self._call(f'{self._session}{what}', 'POST', body)

  def _call(self, what: str, method: str, body: Any = None) -> Any:
    request = urllib.request.Request(
      f'{self._address}{what or "/session"}',
      method=method,
      data=None if body is None else json.dumps(body).encode(),
      headers={'Content-Type': 'application/json'},
    )
    try:
      with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)['value']
    except urllib.error.HTTPError as error:
      with error:
        raise RuntimeError(f'{what}: {error.read().decode()}') from None


@contextlib.contextmanager
def browser(*flags: str) -> Iterator[Browser]:
  """A browser of one's own, gone afterwards."""
  assert DRIVER is not None
  with socket.socket() as free:
    free.bind(('127.0.0.1', 0))
    port = free.getsockname()[1]
  process = subprocess.Popen(
    [DRIVER, f'--port={port}'],
    stdout=subprocess.DEVNULL,
    stderr=subprocess.DEVNULL,
  )
  found = Browser(f'http://127.0.0.1:{port}')
  try:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
      _wait(port)
      found.open(profile, *flags)
      try:
        yield found
      finally:
        found.close()
  finally:
    process.terminate()
    process.wait(timeout=30)


def violations(opened: Browser, axe: Path) -> list[str]:
  """What axe-core has against the page that is open."""
  opened.run(axe.read_text(encoding='utf-8') + ';window.axe = axe;')
  found = opened.wait('axe.run().then(arguments[0])')
  return [
    f'{each["id"]}: {node["html"][:200]}'
    for each in found['violations']
    for node in each['nodes']
  ]


def _wait(port: int) -> None:
  for _ in range(300):
    with contextlib.suppress(OSError):
      socket.create_connection(('127.0.0.1', port), timeout=1).close()
      return
    time.sleep(0.1)
  raise RuntimeError('chromedriver does not answer')
