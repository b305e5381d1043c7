"""How does the memory of whole encoders grow with the length of the input?

  stepwise bench encoder_memory             # minutes of compilers
  stepwise bench encoder_memory --quick     # small sizes, seconds

The question of the paper's Figure 1: a standard Transformer, HiBERT and ETC at
the base size, 12 layers, batch 1. What a program needs besides parameters and
inputs is told by the compiler, for the forward pass and for the gradient, on
this machine (float32) and on one core of a TPU v3 (bfloat16). HiBERT reads
sentences of 32 tokens; ETC has a global token for every 16. Layers that read
tokens are one loop, which compiles faster, and nothing is recomputed but the
blocks of ETC's attention. Draws the curves, and the attention patterns from the
structures that the attention uses. Rows that the results have already are kept,
with the commit they are of.
"""

import importlib.util
import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import benchmarks._harness as harness  # Before jax.

# isort: split
import jax
import jax.numpy as jnp
from flax import linen as nn

from stepwise._files import replacing
from stepwise.layers import (
  AttentionPattern,
  ETCConfig,
  ETCEncoder,
  HierarchicalConfig,
  HierarchicalEncoder,
  TransformerConfig,
  TransformerEncoder,
  UnitStructure,
  plot_pattern,
)

_SENTENCE, _UNIT = 32, 16
TOPOLOGY = 'v3:2x2'


@dataclass(frozen=True)
class Plan:
  lengths: Sequence[int]
  layers: int
  sizes: dict[str, Any]
  tpu: bool


FULL = Plan([512, 1024, 2048, 4096, 8192], 12, {}, True)
QUICK = Plan([128], 2, {'embed': 32, 'heads': 2, 'mlp': 64}, False)


def main(arguments: Sequence[str] | None = None) -> None:
  options = harness.parser('encoder_memory', __doc__).parse_args(arguments)
  plan = QUICK if options.quick else FULL
  flag = ' --quick' if options.quick else ''
  packages = ['stepwise', 'jax', 'jaxlib', 'flax']
  content = harness.provenance(
    f'stepwise bench encoder_memory{flag}', harness.host_name(), packages
  )
  path = options.out / 'encoder_memory.json'
  rows = (
    json.loads(path.read_text(encoding='utf-8'))['rows']
    if path.exists()
    else []
  )
  for row in measure(plan, rows):
    print(' '.join(f'{key}={value}' for key, value in row.items()), flush=True)
    rows.append(row | {'commit': content['commit']})
    harness.write_json(path, content | {'rows': rows})
  plot(rows, options.out / 'encoder_memory.png')
  draw_patterns(options.out / 'attention_pattern.png')


def measure(plan: Plan, known: Sequence[dict[str, Any]] = ()) -> Any:
  """A row for every program that is not known yet."""
  devices: dict[str, Any] = {'cpu': jax.devices()[0]}
  if plan.tpu and importlib.util.find_spec('libtpu'):
    devices[TOPOLOGY] = harness.tpu_device(TOPOLOGY)
  names = ('device', 'system', 'length', 'pass')
  passes = ('forward', 'gradient')
  for key in itertools.product(devices, SYSTEMS, plan.lengths, passes):
    row = dict(zip(names, key, strict=True))
    if any(row.items() <= other.items() for other in known):
      continue
    device, system, length, kind = key
    dtype = jnp.float32 if device == 'cpu' else jnp.bfloat16
    made = SYSTEMS[system](plan, length, dtype)
    yield row | {'temporaries': _temporaries(devices[device], *made, kind)}


def _temporaries(
  device: Any, module: nn.Module, inputs: tuple[Any, ...], kind: str
) -> int | str:
  params = jax.eval_shape(
    lambda *a: nn.unbox(module.init(jax.random.key(0), *a)), *inputs
  )

  def forward(params: Any, *inputs: Any) -> Any:
    return module.apply(params, *inputs)

  def loss(params: Any, *inputs: Any) -> Any:
    outputs = jax.tree.leaves(forward(params, *inputs))
    return sum(output.astype(jnp.float32).sum() for output in outputs)

  function = forward if kind == 'forward' else jax.grad(loss)
  try:
    compiled = harness.compile_for(device, function, params, *inputs)
  except jax.errors.JaxRuntimeError as error:
    return harness.explain(error)
  return harness.temporaries(compiled)


def _ids(*shape: int, dtype: Any = jnp.int32) -> Any:
  return jax.ShapeDtypeStruct(shape, dtype)


def transformer(plan: Plan, length: int, dtype: Any) -> tuple[Any, Any]:
  """Every token reads every other."""
  config = TransformerConfig(
    vocab=30522,
    positions=length,
    layers=plan.layers,
    dtype=dtype,
    dropout=0.0,
    scan_layers=True,
    **plan.sizes,
  )
  inputs = (_ids(1, length), _ids(1, length, dtype=jnp.bool_))
  return TransformerEncoder(config), inputs


def hibert(plan: Plan, length: int, dtype: Any) -> tuple[Any, Any]:
  """Sentences by themselves, then their vectors: two parts to one."""
  document = max(plan.layers // 3, 1)
  sentence = TransformerConfig(
    vocab=30522,
    positions=_SENTENCE,
    layers=plan.layers - document,
    dtype=dtype,
    dropout=0.0,
    scan_layers=True,
    **plan.sizes,
  )
  units = length // _SENTENCE
  config = HierarchicalConfig(sentence, document, document_positions=units)
  grid = (1, units, _SENTENCE)
  return HierarchicalEncoder(config), (
    _ids(*grid),
    _ids(*grid, dtype=jnp.bool_),
  )


def etc(plan: Plan, length: int, dtype: Any) -> tuple[Any, Any]:
  """A window and global tokens."""
  config = ETCConfig(
    layers=plan.layers, dtype=dtype, dropout=0.0, scan_layers=True, **plan.sizes
  )
  num_globals = length // _UNIT
  ids, global_ids = _ids(1, length), _ids(1, num_globals)
  return ETCEncoder(config), (
    ids,
    global_ids,
    UnitStructure(ids, ids, global_ids),
  )


SYSTEMS: dict[str, Callable[..., tuple[Any, Any]]] = {
  'Transformer': transformer,
  'HiBERT': hibert,
  'ETC': etc,
}


def plot(rows: list[dict[str, Any]], path: Path) -> None:
  """A panel for every device and pass."""
  from matplotlib.figure import Figure

  panels = sorted({(row['device'], row['pass']) for row in rows})
  figure = Figure(figsize=(4 * len(panels), 3.5), layout='constrained')
  grid = figure.subplots(1, len(panels), squeeze=False)
  for axes, (device, kind) in zip(grid[0], panels, strict=True):
    for system in SYSTEMS:
      points = [
        (row['length'], row['temporaries'] / 2**20)
        for row in rows
        if (row['device'], row['pass'], row['system']) == (device, kind, system)
        and isinstance(row['temporaries'], int)
      ]
      axes.plot(*zip(*points, strict=True), marker='o', label=system)
    axes.set(title=f'{device}, {kind}', xlabel='tokens', ylabel='MiB')
    axes.set_xscale('log', base=2)
    axes.set_yscale('log')
    axes.legend()
  with replacing(path) as beside:
    figure.savefig(beside, dpi=120, format='png')


def draw_patterns(path: Path) -> None:
  """Six sentences of six tokens, each with its global token."""
  ids = jnp.arange(36)[None] // 6
  ones = jnp.ones((1, 36), jnp.int32)
  units = UnitStructure(ids, ones, ones[:, :6])
  figure = plot_pattern(units, AttentionPattern(radius=4, hard_g2l=True))
  with replacing(path) as beside:
    figure.savefig(beside, dpi=120, format='png')


if __name__ == '__main__':
  main()
