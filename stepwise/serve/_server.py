"""Runs the application until it is told to stop."""

import errno
import socket
from collections.abc import Callable

import uvicorn

from stepwise._errors import InputError
from stepwise.serve._app import ServeConfig, make_app

# Seconds beside those of the longest request that a stop may take.
_GRACE = 5
# Connections that wait to be accepted.
_BACKLOG = 512


def run_server(
  config: ServeConfig,
  host: str,
  port: int,
  on_start: Callable[[str], object] = lambda address: None,
) -> None:
  """Serves until SIGINT or SIGTERM; what was accepted is answered first.

  Args:
    config: what is served.
    host: the address to listen at.
    port: 0 = any that is free.
    on_start: told the address that answers.
  """
  listener = _listen(host, port)
  name = f'[{host}]' if ':' in host else host
  on_start(f'http://{name}:{listener.getsockname()[1]}')
  server = uvicorn.Server(
    uvicorn.Config(
      make_app(config),
      log_level='warning',
      access_log=False,
      server_header=False,
      date_header=False,
      proxy_headers=False,
      timeout_graceful_shutdown=int(config.limits.seconds) + _GRACE,
    )
  )
  with listener:
    server.run(sockets=[listener])


def _listen(host: str, port: int) -> socket.socket:
  """Before anything is loaded: a port that is taken is told at once."""
  family = socket.AF_INET6 if ':' in host else socket.AF_INET
  try:
    return socket.create_server(
      (host, port), family=family, backlog=_BACKLOG, reuse_port=False
    )
  except OSError as error:
    reason = error.strerror or str(error)
    if error.errno == errno.EADDRINUSE:
      reason = 'something else listens there'
    raise InputError(f'{host}, port {port}: {reason}.') from None
