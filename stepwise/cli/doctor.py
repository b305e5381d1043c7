"""`stepwise doctor`: what is installed here, and what is missing for what."""

import importlib.util
import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import Annotated

import typer

from stepwise._extras import EXTRAS
from stepwise._tpu_compiler import COMPILER_ENVIRONMENT
from stepwise.cli._options import AsJson
from stepwise.cli._output import print_json

_PACKAGES = (
  'stepwise',
  'jax',
  'jaxlib',
  'libtpu',
  'flax',
  'optax',
  'orbax-checkpoint',
  'numpy',
  'scipy',
  'jaxtyping',
  'tokenizers',
  'rouge-score',
  'seqio',
  'tensorflow-cpu',
  'tensorflow',
  't5x',
)
# Modules every extra brings; those of `dev` include all the others'.
_EXTRAS: dict[str, tuple[str, ...]] = {
  **EXTRAS,
  'tpu': ('libtpu',),
  'bench': ('libtpu', 'matplotlib'),
  'dev': (
    *(module for modules in EXTRAS.values() for module in modules),
    *('libtpu', 'beartype', 'chex', 'hypothesis', 'pyright'),
    *('pytest', 'xdist', 'ruff'),
  ),
}
# What t5x needs to run, by the name pip wants. Those on GitHub only pin old
# versions of others, hence `--no-deps`.
_T5X_FROM_GIT = {
  't5x': 'git+https://github.com/google-research/t5x',
  'airio': 'git+https://github.com/google/airio',
  'jestimator': 'git+https://github.com/google-research/jestimator',
}
_T5X_FROM_INDEX = {
  'seqio': '"stepwise[tasks]"',
  'clu': 'clu',
  'fiddle': 'fiddle',
  'gin': 'gin-config',
  'grain': 'grain',
  'orbax': 'orbax-checkpoint',
  'tensorboard': 'tensorboard',
}
_LIST_DEVICES = """
import collections, jax
kinds = collections.Counter(d.device_kind for d in jax.devices())
print(', '.join(f'{count} x {kind}' for kind, count in kinds.items()))
"""
_TPU_TOPOLOGY = """
from jax.experimental import topologies
print(topologies.get_topology_desc(
  platform='tpu', topology_name='v5e:2x4').devices[0].device_kind)
"""
_PROBE_SECONDS = 120
# What people go on to, by the extra that it needs.
_JOBS = {
  'serve': ('stepwise serve', 'a page on this machine'),
  'train': (
    'stepwise data check FILE.jsonl',
    'the first step to a model of your own',
  ),
}


@dataclass(frozen=True)
class Check:
  """Whether something works; `detail` says how, or what to do about it."""

  works: bool
  detail: str


def doctor(
  deep: Annotated[
    bool, typer.Option('--deep', help='Import everything (TensorFlow: slow).')
  ] = False,
  as_json: AsJson = False,
) -> None:
  """Reports versions, devices, which optional parts work, and what to do next.

  The exit code is 0 whatever is missing.
  """
  with ThreadPoolExecutor(2) as pool:
    devices = pool.submit(_probe, _LIST_DEVICES)
    compiler = pool.submit(_tpu_compiler)
    versions = _versions()
    extras = {
      name: _extra(name, modules, compiler.result(), deep)
      for name, modules in _EXTRAS.items()
    }
    report = {'devices': devices.result(), **extras, 't5x': _t5x(deep)}
  if as_json:
    checks = {name: asdict(check) for name, check in report.items()}
    print_json({'versions': versions, 'checks': checks})
  else:
    print('\n'.join(_describe(versions, report)))


def _describe(
  versions: Mapping[str, str | None], report: Mapping[str, Check]
) -> list[str]:
  width = max(map(len, versions))
  lines = [f'{name:<{width}}  {v or "-"}' for name, v in versions.items()]
  lines.append('')
  longest = max(map(len, report))
  for name, check in report.items():
    mark = 'ok' if check.works else 'no'
    lines.append(f'{mark}  {name:<{longest}}  {check.detail}')
  return [*lines, '', *_next_steps(report)]


def _next_steps(report: Mapping[str, Check]) -> list[str]:
  """What to do now: what is broken first, then what works, then what is more.

  >>> works = {name: Check(True, '') for name in ('devices', *_JOBS)}
  >>> print(*_next_steps(works), sep='\\n')
  Next:
    stepwise demo                    summarise an article that comes with it
    stepwise summarize FILE          yours, whatever it is
    stepwise report FILE.csv         what is worth saying about a table
    stepwise serve                   a page on this machine
    stepwise data check FILE.jsonl   the first step to a model of your own
  >>> _next_steps({'devices': Check(False, 'No TPU.')})[1]
  '  JAX does not start (No TPU.); try JAX_PLATFORMS=cpu stepwise demo'
  """
  device = report['devices']
  if not device.works:
    return [
      'Next:',
      f'  JAX does not start ({device.detail});'
      ' try JAX_PLATFORMS=cpu stepwise demo',
    ]
  lines = [
    ('stepwise demo', 'summarise an article that comes with it'),
    ('stepwise summarize FILE', 'yours, whatever it is'),
    ('stepwise report FILE.csv', 'what is worth saying about a table'),
  ]
  for extra, (command, purpose) in _JOBS.items():
    check = report.get(extra)
    if check is not None and check.works:
      lines.append((command, purpose))
    elif check is not None:
      lines.append((f"pip install 'stepwise[{extra}]'", f'then {command}'))
  return ['Next:', *(f'  {command:<31}  {then}' for command, then in lines)]


def _versions() -> dict[str, str | None]:
  versions: dict[str, str | None] = {'python': platform.python_version()}
  for package in _PACKAGES:
    try:
      versions[package] = metadata.version(package)
    except metadata.PackageNotFoundError:
      versions[package] = None
  return versions


def _extra(
  name: str, modules: Sequence[str], compiler: Check, deep: bool
) -> Check:
  missing = _missing(modules)
  if missing:
    return Check(
      False,
      f'{", ".join(missing)} not found: pip install "stepwise[{name}]"',
    )
  if 'libtpu' in modules and not compiler.works:
    return compiler
  if deep:
    return _import(modules)
  found = 'installed'
  if 'libtpu' in modules:
    found += f', compiles for {compiler.detail}'
  return Check(True, found)


def _t5x(deep: bool) -> Check:
  from_git, from_index = _missing(_T5X_FROM_GIT), _missing(_T5X_FROM_INDEX)
  if not from_git + from_index:
    return _import(['t5x']) if deep else Check(True, 'installed')
  commands = []
  if from_index:
    names = ' '.join(_T5X_FROM_INDEX[module] for module in from_index)
    commands.append(f'pip install {names}')
  if from_git:
    names = ' '.join(_T5X_FROM_GIT[module] for module in from_git)
    commands.append(f'pip install --no-deps {names}')
  return Check(
    False,
    f'{", ".join(from_git + from_index)} not found: {" && ".join(commands)}',
  )


def _missing(modules: Sequence[str] | Mapping[str, str]) -> list[str]:
  return [m for m in modules if importlib.util.find_spec(m) is None]


def _tpu_compiler() -> Check:
  """Whether libtpu can describe a slice, which is all its compiler needs."""
  if _missing(['libtpu']):
    return Check(False, 'libtpu not found.')
  return _probe(_TPU_TOPOLOGY, COMPILER_ENVIRONMENT)


def _import(modules: Sequence[str]) -> Check:
  return _probe(f'import {", ".join(modules)}; print("imported")')


def _probe(code: str, environment: Mapping[str, str] | None = None) -> Check:
  """Runs code apart: it may log, hang or crash, and we report one line."""
  try:
    done = subprocess.run(
      [sys.executable, '-c', code],
      env={**os.environ, **(environment or {})},
      capture_output=True,
      text=True,
      timeout=_PROBE_SECONDS,
    )
  except subprocess.TimeoutExpired:
    return Check(
      False,
      f'no answer in {_PROBE_SECONDS} s; without an accelerator, set'
      ' JAX_PLATFORMS=cpu.',
    )
  output = done.stderr if done.returncode else done.stdout
  last = (output.strip().splitlines() or [f'exit code {done.returncode}'])[-1]
  return Check(not done.returncode, last)
