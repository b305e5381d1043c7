"""A run's own programs, compiled and not run, for devices that need not exist.

With a topology the TPU compiler tells what a slice would need: on any machine
where libtpu is installed, if `COMPILER_ENVIRONMENT` was set before jax was
imported.
"""

import dataclasses
import re
import time
from collections.abc import Iterator
from typing import Any

import jax
from jax.experimental import topologies
from jax.sharding import NamedSharding

from stepwise._errors import InputError
from stepwise.training._config import TrainConfig
from stepwise.training._flops import product_flops
from stepwise.training._loop import Programs, make_programs
from stepwise.training._mesh import ROWS, describe_layout
from stepwise.training._task import TrainingTask, selector_task


@dataclasses.dataclass(frozen=True)
class CompiledProgram:
  """What a program needs of a device.

  Attributes:
    name: 'update' or 'validation'.
    rows: documents that go in, over all devices and micro-batches.
    tokens, units: of each of them.
    flops: of matrix products, all devices together; of an update thrice those
      of its forward pass, recomputed layers not counted.
    seconds: that compiling took.
    device_bytes: in all; None if it does not fit.
    temporary_bytes: of these, what is neither state nor batch.
    reason: why it cannot be compiled, else ''.
  """

  name: str
  rows: int
  tokens: int
  units: int
  flops: float
  seconds: float
  device_bytes: int | None = None
  temporary_bytes: int | None = None
  reason: str = ''


@dataclasses.dataclass(frozen=True)
class DryRun:
  """What a run would do.

  Attributes:
    mesh: sizes of its axes.
    accumulate: micro-batches of an update.
    layout: lines on what is spread how.
    programs: every one, for the largest batches.
  """

  mesh: dict[str, int]
  accumulate: int
  layout: tuple[str, ...]
  programs: tuple[CompiledProgram, ...]

  @property
  def fits(self) -> bool:
    return not any(program.reason for program in self.programs)


def topology_devices(name: str) -> list[Any]:
  """Devices of a slice, such as `v5e:4x4`."""
  try:
    found = topologies.get_topology_desc(platform='tpu', topology_name=name)
  except Exception as error:
    first = str(error).strip().splitlines()[0]
    raise InputError(
      f'--topology is {name!r}, which the TPU compiler does not take ({first});'
      ' v3:2x2, v4:2x2x2, v5e:4x4, v5p:2x2x2 and v6e:4x4 are some it does.'
    ) from error
  return list(found.devices)


def dry_run(
  config: TrainConfig,
  topology: str | None = None,
  task: TrainingTask | None = None,
) -> DryRun:
  """Compiles the programs of a run for its largest batches.

  Reads no records: sizes are those of `InputConfig.buckets` and `plan_steps`.

  Args:
    config: the run.
    topology: of a TPU slice; None = the devices of this machine.
    task: what to train; None = the selector that `config` names.
  """
  if config.input.buckets is None:
    raise InputError('a dry run reads no records: set InputConfig.buckets.')
  devices = topology_devices(topology) if topology else None
  programs = make_programs(config, task or selector_task(config), devices)
  return DryRun(
    dict(programs.mesh.shape),
    config.accumulate,
    tuple(describe_layout(programs.shapes.params)),
    tuple(_compile_all(config, programs)),
  )


def _compile_all(
  config: TrainConfig, programs: Programs
) -> Iterator[CompiledProgram]:
  shapes = programs.shapes
  yield _compile(
    *('update', programs, config, config.input.batch_size, shapes), passes=3
  )
  if config.evaluation.validation is not None:
    rows = config.validation_batch
    yield _compile('validation', programs, config, rows, shapes.params)


def _compile(
  name: str,
  programs: Programs,
  config: TrainConfig,
  rows: int,
  first: Any,
  passes: int = 1,
) -> CompiledProgram:
  assert config.input.buckets is not None
  size = config.input.buckets.lengths[-1], config.input.buckets.units[-1]
  batch = _batch_shapes(programs, size, rows)
  forward = product_flops(programs.task.loss, programs.shapes.params, batch)
  started = time.monotonic()
  lowered = programs.lower[name](first, batch)
  try:
    needs = _memory(lowered.compile())
  except jax.errors.JaxRuntimeError as error:
    needs: dict[str, Any] = {'reason': _reason(error)}
  seconds = time.monotonic() - started
  flops = passes * forward
  return CompiledProgram(name, rows, *size, flops, seconds, **needs)


def _batch_shapes(programs: Programs, size: tuple[int, int], rows: int) -> Any:
  task = programs.task
  arrays = task.empty(size, rows)
  sharding = NamedSharding(programs.mesh, ROWS)
  fields = {
    name: jax.ShapeDtypeStruct(array.shape, array.dtype, sharding=sharding)
    for name, array in arrays.items()
    if name in task.batch._fields
  }
  return task.batch(**fields)


def _memory(compiled: jax.stages.Compiled) -> dict[str, Any]:
  """Outputs that take the place of donated inputs are not counted twice."""
  parts: Any = compiled.memory_analysis()
  whole = (
    parts.temp_size_in_bytes
    + parts.argument_size_in_bytes
    + parts.output_size_in_bytes
    - parts.alias_size_in_bytes
  )
  return {'device_bytes': whole, 'temporary_bytes': parts.temp_size_in_bytes}


def _reason(error: Exception) -> str:
  text = str(error)
  if used := re.search(r'temporaries \((\S+)\) exceeds .* \((\S+)\)', text):
    return f'out of memory: {used[1]} of {used[2]}'
  return f'failed: {text.splitlines()[0][:100]}'
