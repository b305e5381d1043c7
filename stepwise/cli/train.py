"""`stepwise train`: train a model from records, or continue a run."""

import ast
import dataclasses
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stepwise._errors import InputError
from stepwise._tpu_compiler import COMPILER_ENVIRONMENT
from stepwise.cli._options import (
  Batch,
  GinFiles,
  OptionalConfig,
  Sequence,
  Settings,
  TokenizerOption,
  Twin,
)
from stepwise.cli._progress import counted
from stepwise.cli.data import form_path

if TYPE_CHECKING:
  from stepwise.models import ModelConfig
  from stepwise.training import (
    CompiledProgram,
    TrainConfig,
    TrainingTask,
    TrainResult,
  )

# Not paths: of `gs://bucket/run` they would make a folder on this machine.
Records = Annotated[
  str | None,
  typer.Argument(
    help='From `stepwise data build`, or `data realize` for a realizer; a'
    ' pattern of files, here or in gs://.'
  ),
]
Output = Annotated[
  str | None,
  typer.Option(
    help='Folder of the run, or gs://...; an unfinished one continues.'
  ),
]
Validation = Annotated[str | None, typer.Option(help='Validation records.')]
Steps = Annotated[int | None, typer.Option(min=1, help='Updates.')]
LearningRate = Annotated[float | None, typer.Option(help='Default: 1e-4.')]
Sizes = Annotated[
  list[str],
  typer.Option(
    '--size',
    metavar='NAME=VALUE',
    help='Of the model, such as encoder.layers=6 or pooling=mean.',
  ),
]
Activations = Annotated[
  str | None, typer.Option(help='Their type, such as bfloat16.')
]
Remat = Annotated[
  bool, typer.Option('--remat', help='Recompute layers: less memory.')
]
ScanLayers = Annotated[
  bool, typer.Option('--scan-layers', help='Compile one layer for all.')
]
Accumulate = Annotated[
  int | None, typer.Option(min=1, help='Micro-batches of every update.')
]
Profile = Annotated[
  int | None, typer.Option(min=1, help='Updates to trace into OUTPUT/profile.')
]
Init = Annotated[
  Path | None,
  typer.Option(
    help='Bundle to start from; a twin may take a stepwise one, ETCSum a bare '
    'encoder.'
  ),
]
Export = Annotated[
  bool,
  typer.Option('--export', help='Only write the bundle of the best so far.'),
]
DryRunOption = Annotated[
  bool,
  typer.Option(
    '--dry-run', help='Compile all programs, run none, and tell what they need.'
  ),
]
Topology = Annotated[
  str | None,
  typer.Option(help='TPU slice of a dry run, such as v5e:4x4; needs libtpu.'),
]
Distributed = Annotated[
  str | None,
  typer.Option(help='auto, or HOST:PORT,PROCESSES,INDEX of this process.'),
]


# The flag that sets each value.
_FLAGS = {
  'InputConfig.train': 'RECORDS',
  'TRAIN': 'RECORDS',
  'EvaluationConfig.validation': '--validation',
  'VALIDATION': '--validation',
  'ModelSpec.name': '--config',
  'ModelSpec.twin': '--twin',
  'TrainConfig.steps': '--steps',
  'InputConfig.batch_size': '--batch',
  'OptimizerConfig.learning_rate': '--learning-rate',
  'ModelSpec.dtype': '--activations',
  'ModelSpec.remat': '--remat',
  'ModelSpec.scan_layers': '--scan-layers',
  'TrainConfig.accumulate': '--accumulate',
  'TrainConfig.profile': '--profile',
  'MeshConfig.sequence': '--sequence',
}


def train(
  output: Output = None,
  records: Records = None,
  validation: Validation = None,
  config: OptionalConfig = None,
  twin: Twin = False,
  steps: Steps = None,
  batch: Batch = None,
  learning_rate: LearningRate = None,
  gin: GinFiles = [],  # noqa: B006, typer copies it.
  settings: Settings = [],  # noqa: B006
  sizes: Sizes = [],  # noqa: B006
  activations: Activations = None,
  remat: Remat = False,
  scan_layers: ScanLayers = False,
  accumulate: Accumulate = None,
  profile: Profile = None,
  sequence: Sequence = None,
  init: Init = None,
  tokenizer: TokenizerOption = 'wordpiece',
  export: Export = False,
  distributed: Distributed = None,
  dry_run: DryRunOption = False,
  topology: Topology = None,
) -> None:
  """Train a model; the same command continues a run that was killed.

  OUTPUT gets config.json, metrics.jsonl, checkpoints/ and, at the end,
  bundle/ with the best model. Flags and --set override gin files. A dry run
  reads no records: only sizes count.
  """
  if topology is not None:
    # Before anything imports jax.
    os.environ.update(COMPILER_ENVIRONMENT)
  if distributed is not None:
    _join(distributed)
  flags = {
    'InputConfig.train': records,
    'TRAIN': records,  # What the gin files call it.
    'EvaluationConfig.validation': validation,
    'VALIDATION': validation,
    'ModelSpec.name': config,
    'ModelSpec.twin': twin or None,
    'TrainConfig.steps': steps,
    'InputConfig.batch_size': batch,
    'OptimizerConfig.learning_rate': learning_rate,
    'ModelSpec.sizes': _sizes(sizes) or None,
    'ModelSpec.dtype': activations,
    'ModelSpec.remat': remat,
    'ModelSpec.scan_layers': scan_layers,
    'TrainConfig.accumulate': accumulate,
    'TrainConfig.profile': profile,
    'MeshConfig.sequence': sequence,
    'Masking.tokenizer': tokenizer if tokenizer != 'wordpiece' else None,
  }
  if dry_run:
    anything = [f'{name}=-' for name in ('TRAIN', 'VALIDATION', 'DOCUMENTS')]
    anything += ['InputConfig.train=-'] if not gin else []
    _dry_run(_config(flags, gin, settings, anything), topology)
    return
  if output is None or topology is not None:
    missing = '--output' if output is None else '--dry-run'
    raise InputError(f'{missing} is not given.')
  run = _config(flags, gin, settings)
  _check_records(run, tokenizer)
  initial = None
  if init is not None:
    initial, run = _start(init, run)
  result = _load(run, output) if export else _train(run, output, initial)
  _publish(run, result, output, tokenizer)


def _sizes(given: list[str]) -> dict[str, Any]:
  found = {}
  for setting in given:
    name, equals, value = setting.partition('=')
    if not equals:
      raise InputError(f'--size is {setting!r}, must be NAME=VALUE.')
    try:
      found[name.strip()] = ast.literal_eval(value.strip())
    except (ValueError, SyntaxError):
      found[name.strip()] = value.strip()
  return found


def _dry_run(config: 'TrainConfig', topology: str | None) -> None:
  from rich.console import Console
  from rich.table import Table

  from stepwise.training import dry_run

  def tell(program: 'CompiledProgram') -> None:
    done = f'{program.name} compiled in {program.seconds:.0f} s'
    print(f'stepwise: {done}', file=sys.stderr)

  found = dry_run(config, topology, _task, tell)
  table = Table(
    *('program', 'rows', 'tokens', 'units', 'TFLOP', 'GiB a chip'),
    *('temporary', 'compiled'),
  )
  for program in found.programs:
    whole, part = found.chip_bytes(program)
    teraflops = program.flops / 1e12
    table.add_row(
      program.name,
      f'{program.rows:,}',
      f'{program.tokens:,}',
      f'{program.units:,}',
      f'{teraflops:,.1f}' if teraflops >= 1 else f'{teraflops:.2g}',
      'too much' if program.reason else f'{whole / 2**30:.2f}',
      '' if program.reason else f'{part / 2**30:.2f}',
      f'{program.seconds:.0f} s',
    )
  console = Console(highlight=False)
  console.print(table)
  for program in found.programs:
    if program.reason:
      console.print(f'{program.name}: {program.reason}')
  sizes = ', '.join(f'{axis} {size}' for axis, size in found.mesh.items())
  console.print(f'mesh: {sizes}; micro-batches: {found.accumulate}')
  for line in found.layout:
    console.print(line)
  if not found.fits:
    raise typer.Exit(1)


def _config(
  flags: dict[str, Any],
  gin: list[Path],
  settings: list[str],
  defaults: list[str] = [],  # noqa: B006, never changed.
) -> 'TrainConfig':
  from stepwise.training import TrainConfig, load_gin

  # A rate of 0 is given, too.
  given = [
    f'{name}={value}'
    for name, value in flags.items()
    if value is not None and value is not False
  ]
  if not gin:
    given.insert(0, 'OptimizerConfig.learning_rate=1e-4')
  return load_gin(TrainConfig, gin, [*defaults, *given, *settings], _FLAGS)


def _join(where: str) -> None:
  import jax

  if where == 'auto':
    jax.distributed.initialize()
    return
  try:
    address, count, index = where.split(',')
    numbers = int(count), int(index)
  except ValueError as error:
    raise InputError(
      f'--distributed is {where!r}, must be auto or HOST:PORT,PROCESSES,INDEX.'
    ) from error
  jax.distributed.initialize(address, *numbers)


def _pretrains(config: 'TrainConfig') -> bool:
  from stepwise.models import find_config

  return find_config(config.model.name).pretrains


def _writes(config: 'TrainConfig') -> bool:
  """Whether the model is a realizer; all others read records."""
  from stepwise.models import find_config

  model = find_config(config.model.name)
  return not (model.chooses_units or model.pretrains)


def _task(config: 'TrainConfig') -> 'TrainingTask':
  if _pretrains(config):
    from stepwise.pretraining import pretraining_task

    return pretraining_task(config)
  if _writes(config):
    from stepwise.realization.training import realizer_task

    return realizer_task(config)
  from stepwise.training import selector_task

  return selector_task(config)


def _check_records(config: 'TrainConfig', tokenizer: str) -> None:
  """Before training, not after it."""
  packaged = tokenizer in ('wordpiece', 'reports')
  given = tokenizer if packaged else 'byte_level_bpe'
  made, table = _origin_of_records(config)
  _schema_file(table, config.input.train)
  if made not in ('', given):
    raise InputError(
      f'--tokenizer is {tokenizer!r} but the records were made with {made!r}.'
    )


def _origin_of_records(config: 'TrainConfig') -> tuple[str, str]:
  """The tokeniser of records, and the table; empty where they do not say."""
  from stepwise.training import local_files

  if _writes(config):
    from stepwise.realization import load_examples

    return load_examples(local_files(config.input.train)[0])[1], ''
  from stepwise.data import load_records

  first = local_files(config.input.train)[0]
  record, _ = next(load_records(first), (None, None))
  return (record.tokenizer, record.table) if record else ('', '')


def _train(config: 'TrainConfig', output: str, initial: Any) -> 'TrainResult':
  from stepwise.training import DivergenceError, PreemptionError, train

  with _progress(config.steps) as on_step:
    try:
      return train(
        config,
        output,
        task=_task(config),
        initial_params=initial,
        on_step=on_step,
      )
    except DivergenceError as error:
      print(f'stepwise: {error}', file=sys.stderr)
      raise typer.Exit(1) from error
    except PreemptionError as error:
      # As if the signal had ended it, which is what its sender expects.
      print(f'stepwise: {error}', file=sys.stderr)
      raise typer.Exit(128 + signal.SIGTERM) from error


def _start(init: Path, config: 'TrainConfig') -> tuple[Any, 'TrainConfig']:
  """Weights of a bundle, and the run with the numerics they were trained with.

  A non-stepwise model may start from its twin, and a model from the bare
  encoder that it has, or the other way round. What the user sets, stays.
  """
  from stepwise.checkpoints import load_bundle, start_from, twin_params
  from stepwise.training import resolve_model

  bundle = load_bundle(init)
  given = config.model
  adopted = {
    name: value
    for name, value in bundle.config.numerics.items()
    if getattr(given, name) is None
  }
  config = dataclasses.replace(
    config, model=dataclasses.replace(given, **adopted)
  )
  if given.twin and bundle.config.stepwise:
    return twin_params(bundle), config
  model = resolve_model(config.model.lasting)
  if bundle.config.pretrains != model.pretrains:
    return start_from(bundle, model, config.seed), config
  if model.values_plans is not None:
    return bundle.variables['params'], config
  # A value of whole plans is of the weights that it was learnt with.
  kept = bundle.variables['params'].items()
  return {name: part for name, part in kept if name != 'plan_value'}, config


def _load(config: 'TrainConfig', output: str) -> 'TrainResult':
  from stepwise.training import load_trained

  return load_trained(config, output, _task(config))


@contextmanager
def _progress(steps: int) -> Iterator[Any]:
  """Step and loss on a terminal; elsewhere silent."""
  import logging

  # Orbax tells of every save; a progress bar would not survive it.
  logging.getLogger('absl').setLevel(logging.ERROR)
  done = 0
  with counted('Training', steps) as advance:

    def on_step(step: int, metrics: Any) -> None:
      nonlocal done
      loss = f'Training, loss {metrics["train/loss"]:.3f}' if metrics else None
      advance(step - done, loss)
      done = step

    yield on_step


def _lasting(config: 'TrainConfig', result: 'TrainResult') -> tuple[Any, Any]:
  """The model without what training changed of it: dtype, dropout, scan."""
  import jax
  from flax import linen as nn

  from stepwise.training import resolve_model, restack

  model: Any = resolve_model(config.model.lasting)
  shapes = jax.eval_shape(
    model.build().init, jax.random.key(0), *model.smallest_inputs()
  )
  return model, restack(result.params, nn.unbox(shapes)['params'])


def _planner_file(model: 'ModelConfig', records: str) -> dict[str, str]:
  """What a planner must remember: its table, how much of it, and of plans."""
  from stepwise.data import load_records
  from stepwise.training import local_files

  known = [
    (record.table, len(oracle), record.num_units)
    for file in local_files(records)
    for record, oracle in load_records(file)
  ]
  if not known or not known[0][0]:
    return {}
  from stepwise.planning import OPTIONS_FILE, default_options
  from stepwise.rotowire import TABLES

  tables, steps, units = zip(*known, strict=True)
  if len(set(tables)) > 1:
    raise InputError(f'{records} has records of several tables: {set(tables)}.')
  # Of games as much is read as was learnt from; other tables may grow.
  read = max(units) if tables[0] in TABLES else None
  options = default_options(model, tables[0], max(steps), read)
  return {OPTIONS_FILE: options.to_json(), **_schema_file(tables[0], records)}


def _schema_file(table: str, records: str) -> dict[str, str]:
  """The schema that records of tables have beside them; games need none."""
  from stepwise.rotowire import TABLES
  from stepwise.tables import FORM_FILE, TableForm

  if table in ('', *TABLES):
    return {}
  path = form_path(Path(records))
  if not path.is_file():
    raise InputError(
      f'{records} is of tables of schema {table!r}; {path}, which `stepwise '
      'data tables` wrote beside it, is missing.'
    )
  form = TableForm.from_json(path.read_text('utf-8'), str(path))
  if form.name != table:
    raise InputError(
      f'{records} is of tables of schema {table!r}, {path} is of {form.name!r}.'
    )
  return {FORM_FILE: form.to_json()}


def _publish(
  config: 'TrainConfig', result: 'TrainResult', output: str, tokenizer: str
) -> None:
  """Writes the bundle into the folder of the run, wherever that is."""
  import jax
  from etils import epath

  if jax.process_index():
    return
  target = epath.Path(output) / 'bundle'
  if '://' not in output:
    _save(config, result, Path(target), tokenizer)
  else:
    with tempfile.TemporaryDirectory() as folder:
      made = Path(folder) / 'bundle'
      _save(config, result, made, tokenizer)
      for file in sorted(p for p in made.rglob('*') if p.is_file()):
        name = target / file.relative_to(made).as_posix()
        name.parent.mkdir(parents=True, exist_ok=True)
        name.write_bytes(file.read_bytes())
  print(f'{target}: step {result.step}')


def _save(
  config: 'TrainConfig', result: 'TrainResult', folder: Path, tokenizer: str
) -> None:
  facts = dataclasses.asdict(config.optimizer) | {'steps': config.steps}
  card = f'Trained by `stepwise train`; step {result.step} of {facts}.'
  model, params = _lasting(config, result)
  if _writes(config):
    from stepwise.realization import load_examples
    from stepwise.realization.learned import save_realizer
    from stepwise.training import local_files

    _, _, format = load_examples(local_files(config.input.train)[0])
    options = {'tokenizer': tokenizer, 'card': card}
    save_realizer(folder, model, params, format, **options)
  else:
    from stepwise.checkpoints import save_bundle
    from stepwise.inference import PredictConfig

    # How it was measured, or was asked to choose, is how it should be used.
    measured, predict = config.evaluation.documents, config.evaluation.predict
    asked = measured or predict != PredictConfig()
    chooses = not _pretrains(config)
    save_bundle(
      folder,
      model,
      params,
      tokenizer=tokenizer,
      card=card,
      decoding=predict if chooses and asked else None,
      files=_planner_file(model, config.input.train) if chooses else {},
    )
