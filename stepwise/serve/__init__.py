"""A server for people and programs: a page, and a JSON API under `/api`.

`stepwise serve` runs it; `make_app` is for those who have a server already.
"""

from stepwise._extras import needs

with needs('serve', __name__):
  from stepwise.serve._app import ServeConfig, make_app
  from stepwise.serve._guard import is_local
  from stepwise.serve._limits import Limits
  from stepwise.serve._server import run_server

__all__ = ['Limits', 'ServeConfig', 'is_local', 'make_app', 'run_server']
