"""Beam's options: which runner, and everything that is the runner's own."""

from collections.abc import Sequence
from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import (
  PipelineOptions,
  StandardOptions,
)

from stepwise._errors import InputError
from stepwise._extras import needs

RUNNERS = (
  'DirectRunner',
  'DaskRunner',
  'FlinkRunner',
  'SparkRunner',
  'DataflowRunner',
  'PortableRunner',
)
# Runners that Beam knows by the whole path of their class alone.
_CLASSES = {'DaskRunner': 'apache_beam.runners.dask.dask_runner.DaskRunner'}


def make_options(runner: str, arguments: Sequence[str] = ()) -> PipelineOptions:
  """Options of a pipeline from the words of a command line.

  Args:
    runner: one of `RUNNERS`.
    arguments: such as `--direct_num_workers=2`; see Beam's documentation.
  """
  if runner not in RUNNERS:
    raise InputError(
      f'--runner is {runner!r}, must be one of {", ".join(RUNNERS)}.'
    )
  words = [f'--runner={_CLASSES.get(runner, runner)}', *arguments]
  if runner == 'DirectRunner':
    # Beam would look for its Go runner, on the internet, unless something is
    # asked for that it cannot do. Nothing of ours has a trigger.
    words.append('--allow_unsafe_triggers')
  if runner == 'DaskRunner':
    with needs('dask', 'the DaskRunner'):
      import distributed  # noqa: F401
      from apache_beam.runners.dask import dask_runner  # noqa: F401
    if not any('partition' in word for word in words):
      # A part is a task; the default is 128 parts.
      words.append('--dask_partition_size=1')
  if not any('harness_log_level' in word for word in words):
    # Workers tell much of themselves otherwise.
    words.append('--default_sdk_harness_log_level=ERROR')
  options = _parse(words)
  _check_known(options, words)
  return options


def runs_here(options: PipelineOptions) -> bool:
  """Whether all work is done on this machine."""
  return options.view_as(StandardOptions).runner == 'DirectRunner'


def _parse(words: list[str]) -> PipelineOptions:
  try:
    return PipelineOptions(words)
  except SystemExit:  # It has said why.
    raise InputError(f'Beam does not take {" ".join(words[1:])}.') from None


def _check_known(options: PipelineOptions, words: list[str]) -> None:
  """Beam leaves out what it does not know; here that is a mistake."""
  import logging

  logger = logging.getLogger('apache_beam.options.pipeline_options')
  before, logger.disabled = logger.disabled, True
  try:
    known = options.get_all_options()
    everything = options.get_all_options(retain_unknown_options=True)
  except SystemExit:
    raise InputError(f'Beam does not take {" ".join(words[1:])}.') from None
  finally:
    logger.disabled = before
  unknown = sorted(everything.keys() - known.keys())
  if unknown:
    raise InputError(f'Beam has no option --{" or --".join(unknown)}.')


def run_pipeline(pipeline: beam.Pipeline) -> None:
  """Runs a pipeline to its end; one that fails is an exception."""
  result: Any = pipeline.run()
  try:
    state = result.wait_until_finish()
  finally:
    # The cluster that Dask starts, if none is named, ends with its client.
    if client := getattr(result, 'client', None):
      client.close()
  if state != 'DONE':
    raise RuntimeError(f'The pipeline ended as {state}; see its log.')
