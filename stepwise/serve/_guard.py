"""Who may ask, and what every answer says about itself.

Plain ASGI: a wrapper that reads ahead would hide that a client has left.
"""

import ipaddress
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Without them `/api` answers nobody, or everybody who knows the token.
_OPEN = ('/api/health', '/api/openapi.json')

_HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
}


def is_local(host: str) -> bool:
  """Whether a host is this machine and no other can reach it."""
  if host == 'localhost':
    return True
  try:
    return ipaddress.ip_address(host.strip('[]')).is_loopback
  except ValueError:
    return False


@dataclass(frozen=True)
class Guard:
  """Refuses pages of other sites, strangers, and what is too large.

  A page of another site may send requests to this machine, and with a name of
  its own that leads here (`Host`) it could even read the answers: without a
  token only names of this machine are answered. Requests that a browser says
  come from another site (`Origin`) are refused in any case.

  Attributes:
    app: that is guarded.
    token: that requests must bear; None = only this machine can ask.
    body: bytes of a request at most.
  """

  app: ASGIApp
  token: str | None = None
  body: int = 2**24

  async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
    if scope['type'] != 'http':
      await self.app(scope, receive, send)
      return

    async def send_safely(message: Message) -> None:
      if message['type'] == 'http.response.start':
        headers = MutableHeaders(scope=message)
        for name, value in _HEADERS.items():
          headers.setdefault(name, value)
      await send(message)

    refusal = self._refusal(scope['path'], Headers(scope=scope))
    answer = refusal or self.app
    await answer(scope, receive, send_safely)

  def _refusal(
    self, path: str, headers: Mapping[str, str]
  ) -> JSONResponse | None:
    host = headers.get('host', '')
    if self.token is None and not is_local(_name(host)):
      return refuse(403, f'the host is {host!r}, must be this machine.')
    origin = headers.get('origin')
    if origin and origin.partition('://')[2] != host:
      return refuse(403, f'the request comes from another site, {origin!r}.')
    if path.startswith('/api/') and path not in _OPEN and self.token:
      given = headers.get('authorization', '')
      expected = f'Bearer {self.token}'
      if not secrets.compare_digest(given.encode(), expected.encode()):
        return refuse(
          401,
          'a token is needed: Authorization: Bearer TOKEN.',
          {'WWW-Authenticate': 'Bearer'},
        )
    length = headers.get('content-length', '')
    if length.isdecimal() and int(length) > self.body:
      return too_large(self.body)
    return None


def _name(host: str) -> str:
  """A host without its port; an address of six parts is in brackets."""
  if host.startswith('['):
    return host.partition(']')[0].strip('[')
  return host.partition(':')[0]


def refuse(
  status: int, message: str, headers: Mapping[str, str] | None = None
) -> JSONResponse:
  """One sentence that says why not."""
  return JSONResponse({'error': message}, status, headers)


def too_large(most: int) -> JSONResponse:
  return refuse(413, f'the body is above {most:,} bytes, which is the limit.')
