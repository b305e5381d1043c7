"""A run's own programs, compiled and not run, for devices that need not exist.

With a topology the TPU compiler tells what a slice would need: on any machine
where libtpu is installed, if `COMPILER_ENVIRONMENT` was set before jax was
imported.
"""

import contextlib
import dataclasses
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import jax
from jax.experimental import topologies
from jax.experimental.compilation_cache import compilation_cache
from jax.sharding import NamedSharding

from stepwise._errors import InputError
from stepwise.layers import make_mesh, on_mesh
from stepwise.training._config import TrainConfig
from stepwise.training._flops import product_flops, traced_flops
from stepwise.training._loop import Programs, make_programs
from stepwise.training._mesh import ROWS, decoding_mesh, describe_layout
from stepwise.training._task import TraceHost, TrainingTask, selector_task

# Kinds of TPUs whose chips are two devices.
_TWO_CORES = ('TPU v2', 'TPU v3')


@dataclasses.dataclass(frozen=True)
class CompiledProgram:
  """What a program needs of a device.

  Attributes:
    name: 'update', 'validation', 'prediction' or 'ranking'.
    rows: documents that go in, over all micro-batches and all devices; those of
      one host where each decodes its own.
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
  seconds: float = 0.0
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
    chip_devices: how many devices a chip is to JAX: two of v2 and v3, else one.
  """

  mesh: dict[str, int]
  accumulate: int
  layout: tuple[str, ...]
  programs: tuple[CompiledProgram, ...]
  chip_devices: int = 1

  def chip_bytes(self, program: CompiledProgram) -> tuple[int, int]:
    """Bytes of a chip that a program needs, and the temporary part of them."""
    whole, part = program.device_bytes or 0, program.temporary_bytes or 0
    return self.chip_devices * whole, self.chip_devices * part

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
  make_task: Callable[[TrainConfig], TrainingTask] = selector_task,
  on_program: Callable[[CompiledProgram], object] = lambda _: None,
) -> DryRun:
  """Compiles the programs of a run for its largest batches.

  Reads no records: sizes are those of `InputConfig.buckets` and `plan_steps`.

  Args:
    config: the run.
    topology: of a TPU slice; None = the devices of this machine.
    make_task: what to train.
    on_program: told of every program as soon as it is compiled.
  """
  if config.input.buckets is None:
    raise InputError('a dry run reads no records: set InputConfig.buckets.')
  devices = None
  if topology:
    devices, config = topology_devices(topology), _as_on_accelerators(config)
  programs = make_programs(config, make_task(config), devices)
  compiled = []
  with _without_cache() if topology else contextlib.nullcontext():
    for program in _compile_all(config, programs):
      on_program(program)
      compiled.append(program)
  return DryRun(
    dict(programs.mesh.shape),
    config.accumulate,
    tuple(describe_layout(programs.shapes.params)),
    tuple(compiled),
    2 if programs.mesh.devices.flat[0].device_kind in _TWO_CORES else 1,
  )


@contextlib.contextmanager
def _without_cache() -> Iterator[None]:
  """Programs for devices that are not there cannot be read back."""
  name = 'jax_enable_compilation_cache'
  before = getattr(jax.config, name)
  jax.config.update(name, False)
  compilation_cache.reset_cache()
  try:
    yield
  finally:
    jax.config.update(name, before)
    compilation_cache.reset_cache()


def _as_on_accelerators(config: TrainConfig) -> TrainConfig:
  """What 'auto' means is asked of the processor that compiles: not of this."""
  if config.model.products != 'auto':
    return config
  model = dataclasses.replace(config.model, products='float32')
  return dataclasses.replace(config, model=model)


def _compile_all(
  config: TrainConfig, programs: Programs
) -> Iterator[CompiledProgram]:
  assert config.input.buckets is not None
  size = config.input.buckets.lengths[-1], config.input.buckets.units[-1]
  shapes = programs.shapes

  def forward(batch: Any) -> float:
    return product_flops(programs.task.loss, shapes.params, batch)

  rows = config.input.batch_size
  batch = _batch_shapes(programs, size, rows)
  yield _compile(
    CompiledProgram('update', rows, *size, 3 * forward(batch)),
    lambda: programs.lower['update'](shapes, batch),
  )
  if config.evaluation.validation is None:
    return
  rows = config.validation_batch
  scored = _batch_shapes(programs, size, rows)
  yield _compile(
    CompiledProgram('validation', rows, *size, forward(scored)),
    lambda: programs.lower['validation'](shapes.params, scored),
  )
  for name, trace in programs.task.host_programs.items():
    yield _compile_of_host(name, trace, config, programs, size)


def _compile_of_host(
  name: str,
  trace: TraceHost,
  config: TrainConfig,
  programs: Programs,
  size: tuple[int, int],
) -> CompiledProgram:
  """Every host reads documents of its own: here it is the first one."""
  devices = list(programs.mesh.devices.flat)
  host = devices[0].process_index
  own = [device for device in devices if device.process_index == host]
  # One of many devices would be another than the first of this machine.
  mesh = decoding_mesh(config.mesh, own) or make_mesh(1, devices=own)
  rows, traced = trace(programs.shapes.params, mesh, size)
  return _compile(
    CompiledProgram(name, rows, *size, traced_flops(traced.jaxpr)),
    on_mesh(mesh, traced.lower),
  )


def _compile(
  program: CompiledProgram, lower: Callable[[], jax.stages.Lowered]
) -> CompiledProgram:
  """The program with what it needs, or why it cannot be compiled."""
  started = time.monotonic()
  lowered = lower()
  try:
    needs = _memory(lowered.compile())
  except jax.errors.JaxRuntimeError as error:
    needs: dict[str, Any] = {'reason': _reason(error)}
  seconds = time.monotonic() - started
  return dataclasses.replace(program, seconds=seconds, **needs)


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
