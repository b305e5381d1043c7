"""The page of the server."""

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response


async def index(request: Request) -> Response:
  return HTMLResponse('<!doctype html>')


async def script(request: Request) -> Response:
  return Response('', media_type='text/javascript')


async def style(request: Request) -> Response:
  return Response('', media_type='text/css')
