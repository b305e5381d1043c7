"""`stepwise serve`: a page and a JSON API on this machine."""

import secrets
import sys
from pathlib import Path
from typing import Annotated

import typer

from stepwise._errors import InputError
from stepwise.cli._options import Batch

Host = Annotated[
  str, typer.Option('--host', help='Address to listen at.', metavar='ADDRESS')
]
Port = Annotated[int, typer.Option('--port', min=0, max=65535)]
Token = Annotated[
  str | None,
  typer.Option(
    '--token',
    envvar='STEPWISE_TOKEN',
    help='That requests must bear. Made up if others can reach the address.',
  ),
]
Bundles = Annotated[
  list[Path],
  typer.Option(
    '--bundle',
    metavar='FOLDER',
    help='A model of your own, asked for by the name of its folder; may be '
    'repeated.',
  ),
]
Queue = Annotated[
  int,
  typer.Option('--queue', min=1, help='Texts that are waited for, at most.'),
]
LimitBody = Annotated[
  int, typer.Option('--limit-body', min=1, help='Bytes of a request.')
]
LimitSentences = Annotated[
  int, typer.Option('--limit-sentences', min=1, help='Of a text.')
]
LimitSeconds = Annotated[
  float, typer.Option('--limit-seconds', min=0.1, help='Of a text.')
]


def serve(
  host: Host = '127.0.0.1',
  port: Port = 8765,
  token: Token = None,
  bundle: Bundles = [],  # noqa: B006, typer copies it.
  queue: Queue = 64,
  batch: Batch = None,
  limit_body: LimitBody = 16 * 2**20,
  limit_sentences: LimitSentences = 5000,
  limit_seconds: LimitSeconds = 120.0,
) -> None:
  """Serve a page to summarise texts and tables with, and a JSON API.

  The API is described at /api/openapi.json. Nothing is kept: no text is
  written anywhere, and no file of this machine is read. Ctrl+C stops; what was
  accepted is answered first.
  """
  from stepwise._runtime import prepare
  from stepwise.serve import Limits, ServeConfig, is_local, run_server

  if not is_local(host) and token is None:
    token = secrets.token_urlsafe(24)
  prepare()
  config = ServeConfig(
    bundles=_bundles(bundle),
    token=token,
    limits=Limits(
      body=limit_body,
      sentences=limit_sentences,
      seconds=limit_seconds,
      queue=queue,
      batch=batch or Limits.batch,
    ),
    warm=True,
  )

  def tell(address: str) -> None:
    # What follows the sign stays in the browser.
    end = f'#token={token}' if token else ''
    print(f'stepwise: {address}/{end}', file=sys.stderr, flush=True)

  run_server(config, host, port, on_start=tell)


def _bundles(folders: list[Path]) -> dict[str, Path]:
  bundles: dict[str, Path] = {}
  for folder in folders:
    if not (folder / 'config.json').is_file():
      raise InputError(f'{folder} is not the folder of a model.')
    name = folder.absolute().name
    if name in bundles:
      raise InputError(f'two models are named {name}.')
    bundles[name] = folder.absolute()
  return bundles
