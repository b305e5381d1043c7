"""Registration of the stepwise and extractive tasks of a source."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import seqio
import tensorflow as tf

from stepwise._errors import InputError
from stepwise.data import OracleOptions, RecordOptions, Tokenizer, wordpiece
from stepwise.tasks._feature_converters import StepwiseFeatureConverter
from stepwise.tasks._metrics import SelectedText, rouge_metric
from stepwise.tasks._preprocessors import (
  add_records,
  all_steps,
  cut_to_length,
  every_step,
  labelled_units,
  sampled_step,
)
from stepwise.tasks._sources import DocumentFiles

# From a dataset to a dataset; SeqIO passes what it finds among the parameters.
Preprocessor = Callable[..., Any]

# What training sees of a document, by the end of the task's name.
STEPS: dict[str, Preprocessor] = {
  '_stepwise': every_step,
  '_stepwise_sampled': sampled_step,
  '_stepwise_all': all_steps,
}

# All features are ids already: there is nothing to encode or decode.
OUTPUT_FEATURES = {
  name: seqio.Feature(
    seqio.PassThroughVocabulary(size=0), add_eos=False, dtype=tf.int32
  )
  for name in StepwiseFeatureConverter.TASK_FEATURES
}


def register_jsonl_tasks(
  name: str,
  files_by_split: Mapping[str, str | Sequence[str]],
  *,
  tokenizer: Callable[[], Tokenizer] = wordpiece,
  records: RecordOptions = RecordOptions(),
  oracle: OracleOptions = OracleOptions(),
  suffix: str = '',
) -> list[str]:
  """Registers the tasks of JSON lines (or any format of `read_documents`).

  Args:
    name: begins the names of the tasks, see `register_tasks`.
    files_by_split: paths or patterns of every split, see `DocumentFiles`;
      `train` is the one to train on.
    tokenizer: loads the tokeniser, when it is first needed.
    records: special units of stepwise records, and limits of all records.
    oracle: how targets are searched.
    suffix: ends the names of the tasks.

  Returns:
    The names of the tasks.
  """
  return register_tasks(
    name,
    DocumentFiles(files_by_split),
    tokenizer=tokenizer,
    records=records,
    oracle=oracle,
    suffix=suffix,
  )


def register_tasks(
  name: str,
  source: seqio.DataSource,
  *,
  parse: Sequence[Preprocessor] = (),
  tokenizer: Callable[[], Tokenizer] = wordpiece,
  records: RecordOptions = RecordOptions(),
  oracle: OracleOptions = OracleOptions(),
  suffix: str = '',
) -> list[str]:
  """Registers four tasks of a source; those of the same name are replaced.

  `NAME_stepwise` has one example per step in the split `train`,
  `NAME_stepwise_sampled` draws one step per document and epoch,
  `NAME_stepwise_all` has all steps of a document in one example. Other splits
  always have one example per document. `NAME_extractive` has records without
  special units. SeqIO caches the same content for the first three.

  In `task_feature_lengths` the `targets` of a whole document are its oracle
  and the stop unit. Steps beyond the lengths of `plan` and `targets` are left
  out of stepwise examples; an oracle set that does not fit is an error. The
  length of `tokens` cuts documents, and targets with them, after the search;
  only the limits in `records` confine the search to units that fit.

  Args:
    name: begins the names.
    source: of documents, marked as for training or not.
    parse: makes documents of the examples of the source, if they are not yet.
    tokenizer, records, oracle, suffix: see `register_jsonl_tasks`.
  """
  if 'eot' not in records.special_units:
    raise InputError(
      f'records has the special units {records.special_units}; stepwise tasks '
      'need `eot`.'
    )
  kinds = {kind: (records, steps) for kind, steps in STEPS.items()}
  extractive = replace(records, special_units=())
  kinds['_extractive'] = (extractive, labelled_units)
  names = []
  for kind, (options, choose) in kinds.items():
    add = partial(
      add_records, tokenizer=tokenizer, records=options, oracle=oracle
    )
    names.append(f'{name}{kind}{suffix}')
    _register(names[-1], source, [*parse, add], options.special_units, choose)
  return names


def _register(
  name: str,
  source: seqio.DataSource,
  prepare: Sequence[Preprocessor],
  special_units: Sequence[str],
  choose: Preprocessor,
) -> None:
  stop = special_units.index('eot') if 'eot' in special_units else None
  preprocessors: list[Any] = [
    *prepare,
    seqio.CacheDatasetPlaceholder(),
    partial(cut_to_length, special=len(special_units)),
    choose,
  ]
  seqio.TaskRegistry.remove(name)
  seqio.TaskRegistry.add(
    name,
    source,  # pyright: ignore[reportArgumentType]  (SeqIO's own base class)
    output_features=OUTPUT_FEATURES,
    preprocessors=preprocessors,
    postprocess_fn=SelectedText(stop),
    metric_fns=[rouge_metric],
  )
