"""`stepwise train`: train a model from records, or continue a run."""

import dataclasses
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stepwise._errors import InputError
from stepwise.cli._progress import counted

if TYPE_CHECKING:
  from stepwise.training import TrainConfig, TrainingTask, TrainResult

Records = Annotated[
  Path | None,
  typer.Argument(
    help='From `stepwise data build`, or `data realize` for a realizer.'
  ),
]
Output = Annotated[
  Path, typer.Option(help='Folder of the run; an unfinished one continues.')
]
Validation = Annotated[Path | None, typer.Option(help='Validation records.')]
Model = Annotated[str | None, typer.Option(help='A name of `stepwise params`.')]
Twin = Annotated[bool, typer.Option('--twin', help='The non-stepwise twin.')]
Steps = Annotated[int | None, typer.Option(min=1, help='Updates.')]
Batch = Annotated[int | None, typer.Option(min=1, help='Examples per update.')]
LearningRate = Annotated[float | None, typer.Option(help='Default: 1e-4.')]
GinFiles = Annotated[
  list[Path], typer.Option('--gin', help='Gin file; may be repeated.')
]
Settings = Annotated[
  list[str],
  typer.Option('--set', metavar='NAME=VALUE', help='Overrides all else.'),
]
Init = Annotated[
  Path | None,
  typer.Option(help='Bundle to start from; a twin may take a stepwise one.'),
]
TokenizerOption = Annotated[
  str, typer.Option(help='wordpiece, or a folder with vocab.json, merges.txt.')
]
Export = Annotated[
  bool,
  typer.Option('--export', help='Only write the bundle of the best so far.'),
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
  'ModelSpec.name': '--model',
  'ModelSpec.twin': '--twin',
  'TrainConfig.steps': '--steps',
  'InputConfig.batch_size': '--batch',
  'OptimizerConfig.learning_rate': '--learning-rate',
}


def train(
  output: Output,
  records: Records = None,
  validation: Validation = None,
  model: Model = None,
  twin: Twin = False,
  steps: Steps = None,
  batch: Batch = None,
  learning_rate: LearningRate = None,
  gin: GinFiles = [],  # noqa: B006, typer copies it.
  settings: Settings = [],  # noqa: B006
  init: Init = None,
  tokenizer: TokenizerOption = 'wordpiece',
  export: Export = False,
  distributed: Distributed = None,
) -> None:
  """Train a model; the same command continues a run that was killed.

  OUTPUT gets config.json, metrics.jsonl, checkpoints/ and, at the end,
  bundle/ with the best model. Flags and --set override gin files.
  """
  if distributed is not None:
    _join(distributed)
  flags = {
    'InputConfig.train': records,
    'TRAIN': records,  # What the gin files call it.
    'EvaluationConfig.validation': validation,
    'VALIDATION': validation,
    'ModelSpec.name': model,
    'ModelSpec.twin': twin or None,
    'TrainConfig.steps': steps,
    'InputConfig.batch_size': batch,
    'OptimizerConfig.learning_rate': learning_rate,
  }
  config = _config(flags, gin, settings)
  _check_tokenizer(config, tokenizer)
  result = _load(config, output) if export else _train(config, output, init)
  _save(config, result, output / 'bundle', tokenizer)


def _config(
  flags: dict[str, Any], gin: list[Path], settings: list[str]
) -> 'TrainConfig':
  from stepwise.training import TrainConfig, load_gin

  given = [f'{name}={value}' for name, value in flags.items() if value]
  if not gin:
    given.insert(0, 'OptimizerConfig.learning_rate=1e-4')
  return load_gin(TrainConfig, gin, [*given, *settings], _FLAGS)


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


def _writes(config: 'TrainConfig') -> bool:
  """Whether the model is a realizer; all others select."""
  from stepwise.models import find_config

  return not find_config(config.model.name).chooses_units


def _task(config: 'TrainConfig') -> 'TrainingTask | None':
  if not _writes(config):
    return None
  from stepwise.realization.training import realizer_task

  return realizer_task(config)


def _check_tokenizer(config: 'TrainConfig', tokenizer: str) -> None:
  """Before training, not after it."""
  given = 'wordpiece' if tokenizer == 'wordpiece' else 'byte_level_bpe'
  made = _tokenizer_of_records(config)
  if made not in ('', given):
    raise InputError(
      f'--tokenizer is {tokenizer!r} but the records were made with {made!r}.'
    )


def _tokenizer_of_records(config: 'TrainConfig') -> str:
  if _writes(config):
    from stepwise.realization import load_examples

    return load_examples(config.input.train)[1]
  from stepwise.data import load_records

  record, _ = next(load_records(config.input.train), (None, None))
  return record.tokenizer if record is not None else ''


def _train(
  config: 'TrainConfig', output: Path, init: Path | None
) -> 'TrainResult':
  from stepwise.training import DivergenceError, PreemptionError, train

  initial = None
  if init is not None:
    initial = _initial_params(init, config.model.twin)
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


def _initial_params(init: Path, twin: bool) -> Any:
  """Weights of a bundle; a non-stepwise model may start from its twin."""
  from stepwise.checkpoints import load_bundle, twin_params

  bundle = load_bundle(init)
  if twin and bundle.config.stepwise:
    return twin_params(bundle)
  return bundle.variables['params']


def _load(config: 'TrainConfig', output: Path) -> 'TrainResult':
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


def _save(
  config: 'TrainConfig', result: 'TrainResult', folder: Path, tokenizer: str
) -> None:
  import jax

  if jax.process_index():
    return
  facts = dataclasses.asdict(config.optimizer) | {'steps': config.steps}
  card = f'Trained by `stepwise train`; step {result.step} of {facts}.'
  if _writes(config):
    from stepwise.models import find_config
    from stepwise.realization import load_examples
    from stepwise.realization.learned import save_realizer

    model: Any = find_config(config.model.name)
    _, _, format = load_examples(config.input.train)
    options = {'tokenizer': tokenizer, 'card': card}
    save_realizer(folder, model, result.params, format, **options)
  else:
    from stepwise.checkpoints import save_bundle
    from stepwise.inference import PredictConfig
    from stepwise.training import ModelSpec, resolve_model

    # How it was measured, or was asked to choose, is how it should be used.
    measured, predict = config.evaluation.documents, config.evaluation.predict
    save_bundle(
      folder,
      # What training changed (dtype, dropout) is not a property of the model.
      resolve_model(ModelSpec(config.model.name, config.model.twin)),
      result.params,
      tokenizer=tokenizer,
      card=card,
      decoding=predict if measured or predict != PredictConfig() else None,
    )
  print(f'{folder}: step {result.step}')
