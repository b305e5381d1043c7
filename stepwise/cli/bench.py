"""`stepwise bench`: runs one of the benchmarks of a checkout."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

import stepwise
from stepwise._errors import InputError


def bench(
  context: typer.Context,
  name: Annotated[str, typer.Argument(help='Such as attention.')],
) -> None:
  """Runs a benchmark, for example `stepwise bench attention --quick`.

  Benchmarks are scripts of the repository's `benchmarks` folder. All other
  arguments are the benchmark's own: `stepwise bench attention --help`.
  """
  root = Path(stepwise.__file__).parent.parent
  _check_benchmark(root / 'benchmarks', name)
  path = os.pathsep.join(filter(None, [str(root), os.getenv('PYTHONPATH')]))
  done = subprocess.run(
    [sys.executable, '-m', f'benchmarks.{name}', *context.args],
    env={**os.environ, 'PYTHONPATH': path},
  )
  raise typer.Exit(done.returncode)


def _check_benchmark(folder: Path, name: str) -> None:
  if not folder.is_dir():
    raise InputError(
      'This installation has no benchmarks folder: install stepwise from a'
      ' checkout of its repository, `pip install -e ".[bench]"`.'
    )
  known = sorted(
    script.stem
    for script in folder.glob('*.py')
    if not script.stem.startswith('_')
  )
  if name not in known:
    raise InputError(f'No benchmark {name!r}; there are {", ".join(known)}.')
