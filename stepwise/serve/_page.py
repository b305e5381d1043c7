"""The page of the server, of the same design as the pages that it shows."""

import functools
from importlib import resources

from starlette.requests import Request
from starlette.responses import Response

from stepwise.pages import SCRIPTS, read, script_hash
from stepwise.summarization import sample_article

# Pages of results are shown in a frame that inherits this policy: their scripts
# are known by their hashes, and nothing else runs.
_POLICY = (
  "default-src 'none'; connect-src 'self'; style-src 'self' 'unsafe-inline';"
  " img-src data:; base-uri 'none'; form-action 'none';"
  " frame-ancestors 'none'; script-src 'self' {scripts}"
)


async def index(request: Request) -> Response:
  scripts = ' '.join(f"'{script_hash(name)}'" for name in SCRIPTS)
  policy = {'Content-Security-Policy': _POLICY.format(scripts=scripts)}
  return Response(_read('app.html'), media_type='text/html', headers=policy)


async def script(request: Request) -> Response:
  return Response(_read('app.js'), media_type='text/javascript')


async def style(request: Request) -> Response:
  text = read('shell.css') + _read('app.css')
  return Response(text, media_type='text/css')


async def sample(request: Request) -> Response:
  return Response(sample_article(), media_type='text/plain')


@functools.cache
def _read(name: str) -> str:
  folder = resources.files('stepwise.serve')
  return (folder / name).read_text(encoding='utf-8')
