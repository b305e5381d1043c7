"""What benchmarks share: timing, compiled memory, provenance, files.

Import it before jax: the TPU compiler needs its environment early.
"""

import argparse
import datetime
import json
import os
import platform
import re
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from stepwise import _files
from stepwise._parallel import available_cores
from stepwise._tpu_compiler import COMPILER_ENVIRONMENT

# Without overriding what is set: JAX_PLATFORMS=tpu times a real one.
os.environ.update(COMPILER_ENVIRONMENT | dict(os.environ))

import jax
from jax.experimental import topologies

RESULTS = Path(__file__).parent / 'results'
GIB = 2**30


def provenance(command: str, device: str, packages: Sequence[str]) -> dict:
  """Where, when and with what; call it before the work, as commits move on."""
  commit = subprocess.run(
    ['git', 'describe', '--always', '--dirty', '--abbrev=40'],
    cwd=Path(__file__).parent,
    capture_output=True,
    text=True,
    check=False,
  )
  return {
    'device': device,
    # What else ran: times of a busy machine are worth less.
    'load_before': round(os.getloadavg()[0], 2),
    'versions': {
      'python': platform.python_version(),
      **{name: version(name) for name in packages},
    },
    'commit': commit.stdout.strip(),
    'date': datetime.date.today().isoformat(),
    'command': command,
  }


def host_name() -> str:
  """The first device of this machine, and the cores we may use."""
  kind = jax.devices()[0].device_kind
  cores = available_cores()
  return f'{kind}, {platform.machine()}, {cores} core{"s"[: cores != 1]}'


def parser(name: str, description: str | None) -> argparse.ArgumentParser:
  """Of `stepwise bench NAME`, with what every benchmark can be told."""
  made = argparse.ArgumentParser(
    prog=f'stepwise bench {name}',
    description=description,
    formatter_class=argparse.RawDescriptionHelpFormatter,
  )
  made.add_argument('--quick', action='store_true', help='small sizes only')
  made.add_argument(
    '--out', type=Path, default=RESULTS, help='folder to write to'
  )
  return made


def write_json(path: Path, content: Mapping[str, Any]) -> None:
  path.parent.mkdir(parents=True, exist_ok=True)
  _files.write_json(path, content)


def read_json(path: Path) -> dict[str, Any]:
  return json.loads(path.read_text(encoding='utf-8'))


# Type checkers do not accept `jax.Device` as a type.
def tpu_device(topology: str) -> Any:
  """A device to compile for, such as the first of `'v5e:2x4'`."""
  return topologies.get_topology_desc(
    platform='tpu', topology_name=topology
  ).devices[0]


def compile_for(
  device: Any, function: Callable[..., Any], *shapes: Any
) -> jax.stages.Compiled:
  """Compiles for one device, which need not exist, from shapes alone."""
  sharding = jax.sharding.SingleDeviceSharding(device)
  placed = jax.tree.map(
    lambda leaf: jax.ShapeDtypeStruct(
      leaf.shape, leaf.dtype, sharding=sharding
    ),
    shapes,
  )
  return jax.jit(function).lower(*placed).compile()


def temporaries(compiled: jax.stages.Compiled) -> int:
  """Bytes a program needs beside its inputs and outputs."""
  return _memory(compiled).temp_size_in_bytes


def footprint(compiled: jax.stages.Compiled) -> int:
  """Bytes a program needs in all."""
  memory = _memory(compiled)
  return (
    memory.temp_size_in_bytes
    + memory.argument_size_in_bytes
    + memory.output_size_in_bytes
  )


def memory(compiled: jax.stages.Compiled) -> dict[str, int]:
  """Bytes on a device, in all and by what they are for.

  Outputs that take the place of donated inputs are not counted twice.
  """
  parts = _memory(compiled)
  return {
    'device_bytes': footprint(compiled) - parts.alias_size_in_bytes,
    'argument_bytes': parts.argument_size_in_bytes,
    'temporary_bytes': parts.temp_size_in_bytes,
  }


def _memory(compiled: jax.stages.Compiled) -> Any:
  memory = compiled.memory_analysis()
  assert memory is not None, 'this backend does not report memory'
  return memory


def median_seconds(
  compiled: Callable[..., Any],
  arguments: Sequence[Any],
  *,
  repeats: int,
  budget: float,
) -> float:
  """Median time after a warm-up; fewer repeats once `budget` is spent."""
  started = time.perf_counter()
  _seconds(compiled, arguments)
  times = [_seconds(compiled, arguments)]
  while len(times) < repeats and time.perf_counter() - started < budget:
    times.append(_seconds(compiled, arguments))
  return statistics.median(times)


def _seconds(compiled: Callable[..., Any], arguments: Sequence[Any]) -> float:
  started = time.perf_counter()
  jax.block_until_ready(compiled(*arguments))
  return time.perf_counter() - started


def explain(error: Exception) -> str:
  """One line for a table: why a program did not compile."""
  text = str(error)
  if used := re.search(r'temporaries \((\S+)\) exceeds .* \((\S+)\)', text):
    return f'out of memory: {used[1]} of {used[2]}'
  return f'failed: {text.splitlines()[0][:100]}'
