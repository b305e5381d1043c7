"""Batches: every example once an epoch, the same ones again after a stop."""

import dataclasses
import gzip
from collections import Counter

import jax
import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.data import Buckets, load_records
from stepwise.training import (
  InputConfig,
  ModelSpec,
  resolve_model,
  selector_task,
)
from stepwise.training._input import (
  Examples,
  TrainingBatches,
  empty_batch,
  load_labelled,
  open_batches,
  validation_batches,
  validation_examples,
)
from tests.training.runs import tiny_config, write_records

HIBERT = resolve_model(ModelSpec('hibert_tiny'))
TWIN = resolve_model(ModelSpec('hibert_tiny', twin=True))


@pytest.fixture(scope='module')
def records(tmp_path_factory):
  return write_records(tmp_path_factory.mktemp('records'), count=13)


@pytest.fixture(scope='module')
def labelled(records):
  return load_labelled(str(records), HIBERT)


def source(labelled, mode='all', seed=3, buckets=None, batch_size=4):
  examples = Examples(labelled, mode, buckets)
  return TrainingBatches(examples, batch_size, seed=seed, length=100)


def rows(arrays):
  """The rows of a batch as hashable values, empty ones left out."""
  return [
    (tuple(tokens[ids >= 0].tolist()), tuple(plan[plan >= 0].tolist()))
    for tokens, ids, plan in zip(
      arrays['tokens'], arrays['unit_ids'], arrays['plan'], strict=True
    )
    if ids[0] >= 0
  ]


def epoch(batches, number):
  first = number * batches.per_epoch
  found = [batches[first + i] for i in range(batches.per_epoch)]
  return Counter(row for arrays in found for row in rows(arrays))


@pytest.mark.parametrize('mode', ['all', 'steps'])
def test_every_example_comes_once_an_epoch(labelled, mode):
  # Several buckets, so that some batches are not full.
  batches = source(labelled, mode, buckets=Buckets((48, 64, 96), (5, 6, 8)))
  steps = sum(1 + len(oracle) for _, oracle in labelled)
  for number in (0, 1):
    found = epoch(batches, number)
    assert found.total() == (len(labelled) if mode == 'all' else steps)
  assert epoch(batches, 0) == epoch(batches, 1)


def test_epochs_and_seeds_differ_in_order(labelled):
  batches = source(labelled)
  order = [rows(batches[i]) for i in range(2 * batches.per_epoch)]
  assert order[: batches.per_epoch] != order[batches.per_epoch :]
  assert rows(source(labelled, seed=4)[0]) != rows(batches[0])


def test_a_batch_is_a_function_of_its_index(labelled):
  forward, backward = source(labelled, 'sample'), source(labelled, 'sample')
  last = [backward[i] for i in reversed(range(9))]
  for index, arrays in enumerate(reversed(last)):
    for name, array in forward[index].items():
      np.testing.assert_array_equal(array, arrays[name])


def test_sampling_draws_new_steps_in_later_epochs(labelled):
  batches = source(labelled, 'sample', batch_size=1)
  plans = {
    tuple(batches[i]['plan'][0].tolist()) for i in range(6 * len(labelled))
  }
  # Some begin with nothing chosen, others with the oracle's unit.
  assert len(plans) > 1
  assert any(max(plan) == -1 for plan in plans)


def test_columns_that_are_always_empty_are_cut(labelled):
  everything = source(labelled, 'all')[0]
  assert everything['plan'].shape[1] == 1
  assert everything['targets'].shape[1] == 2
  for mode in ('steps', 'sample'):
    single = source(labelled, mode)[0]
    assert single['plan'].shape[1] == 2
    assert single['targets'].shape[1] == 1
    assert (single['targets'][:, 0] >= 0).sum() == len(rows(single))


@pytest.mark.parametrize('mode', ['all', 'steps', 'sample'])
def test_later_steps_may_be_left_out(labelled, mode):
  longest = max(labelled, key=lambda pair: len(pair[1]))
  assert len(longest[1]) == 1
  examples = Examples([longest], mode, learn_steps=1)
  drawn = [
    examples.draw(index, np.random.default_rng(seed))
    for index in range(len(examples))
    for seed in range(9)
  ]
  special = longest[0].special
  for example in drawn:
    assert example['plan'].tolist() == []
    assert example['targets'].tolist() == [longest[1][0] + special]


def test_gains_follow_their_step(labelled):
  measured = [
    (
      dataclasses.replace(
        record,
        gains=np.arange(
          (1 + len(oracle)) * record.num_units, dtype=np.float32
        ).reshape(-1, record.num_units),
      ),
      oracle,
    )
    for record, oracle in labelled
  ]
  for mode in ('steps', 'sample'):
    batches = source(measured, mode)
    for index in range(batches.per_epoch):
      arrays = batches[index]
      assert arrays['gains'].shape[1] == arrays['targets'].shape[1] == 1
      for ids, plan, gains in zip(
        arrays['unit_ids'], arrays['plan'], arrays['gains'], strict=True
      ):
        step, units = (plan >= 0).sum(), ids.max() + 1
        assert gains[0, 0] == step * units


def test_the_position_is_enough_to_continue(labelled, records):
  config = InputConfig(str(records), batch_size=4)
  examples = Examples(labelled, 'all')

  def opened():
    return open_batches(examples, config, seed=1, steps=12)

  first = opened()
  for _ in range(5):
    next(first)
  position = first.get_state()
  rest = [rows(arrays) for arrays in first]
  second = opened()
  second.set_state(position)
  assert [rows(arrays) for arrays in second] == rest
  assert len(rest) == 7


def test_extractive_targets_are_sets(tmp_path):
  path = write_records(tmp_path, extractive=True)
  labelled = load_labelled(str(path), TWIN)
  arrays = source(labelled, 'sample')[0]
  assert arrays['targets'].shape[1] == 1
  assert (arrays['plan'] == -1).all()


def test_validation_reads_everything_once_in_order(labelled):
  found = [
    row
    for arrays in validation_batches(Examples(labelled, 'all'), 4)
    for row in rows(arrays)
  ]
  assert [tokens for tokens, _ in found] == [
    tuple(record.tokens.tolist()) for record, _ in labelled
  ]


def joined(parts):
  """Rows of several processes as one batch."""
  return {
    name: np.concatenate([part[name] for part in parts]) for name in parts[0]
  }


@pytest.mark.parametrize('mode', ['all', 'sample'])
def test_processes_make_rows_of_the_same_batches(labelled, mode):
  examples = Examples(labelled, mode)
  options = {'batch_size': 4, 'seed': 3, 'length': 9}
  whole = TrainingBatches(examples, **options)
  parts = [
    TrainingBatches(examples, **options, rows=np.array(rows))
    for rows in ([0], [1, 2, 3])
  ]
  for index in range(whole.per_epoch):
    found = joined([part[index] for part in parts])
    jax.tree.map(np.testing.assert_array_equal, found, whole[index])


def test_files_are_read_as_one(labelled, records, tmp_path):
  lines = records.read_text().splitlines(keepends=True)
  (tmp_path / 'part-0.jsonl').write_text(''.join(lines[:5]))
  with gzip.open(tmp_path / 'part-1.jsonl.gz', 'wt') as stream:
    stream.write(''.join(lines[5:]))
  found = load_labelled(str(tmp_path / 'part-*'), HIBERT)
  assert len(found) == len(labelled) == len(lines)
  for left, right in zip(found, labelled, strict=True):
    assert left[0].id == right[0].id
    assert left[1] == right[1]
    np.testing.assert_array_equal(left[0].tokens, right[0].tokens)
  with pytest.raises(InputError, match=r'none-\*: no such file'):
    load_labelled(str(tmp_path / 'none-*'), HIBERT)


def test_too_many_steps_are_refused_before_training(labelled):
  with pytest.raises(InputError, match='2 steps but plan_steps is 1'):
    Examples(labelled, 'all', steps=1)
  assert Examples(labelled, 'all', steps=1, learn_steps=1).steps == 1


def test_sampled_runs_are_validated_step_by_step(labelled, records):
  """In the buckets of the run, with one step of a document in a row."""
  config = InputConfig(
    *(str(records), 4, 'sample'), buckets=Buckets((64,), (8,)), plan_steps=5
  )
  examples = validation_examples(labelled, config)
  found = list(validation_batches(examples, 4))
  assert {batch['targets'].shape for batch in found} == {(4, 1)}
  assert {batch['plan'].shape for batch in found} == {(4, 5)}
  assert {batch['tokens'].shape for batch in found} == {(4, 64)}
  steps = sum(1 + len(oracle) for _, oracle in labelled)
  assert sum((batch['targets'] >= 0).sum() for batch in found) == steps


def test_records_must_fit_the_model(records, tmp_path):
  with pytest.raises(InputError, match=r"special units\s+\('eot', 'beg'\)"):
    load_labelled(str(records), TWIN)
  empty = tmp_path / 'empty.jsonl'
  empty.write_text('')
  with pytest.raises(InputError, match='empty; at least one record is needed'):
    load_labelled(str(empty), HIBERT)
  too_large = tmp_path / 'bpe.jsonl'
  first = records.read_text().splitlines()[0]
  token = next(load_records(records))[0].tokens[-1]
  too_large.write_text(first.replace(f'{token}]', '50000]', 1) + '\n')
  with pytest.raises(InputError, match=r'token 50000 of .* only 30522 rows'):
    load_labelled(str(too_large), HIBERT)
  assert len(load_labelled(str(records), HIBERT, 64))
  with pytest.raises(InputError, match='but unit_tokens is 1: raise it, or'):
    load_labelled(str(records), HIBERT, 1)


def test_the_model_has_no_room_for_longer_units_than_there_are(records):
  """Scores are the same: see the tests of `build_for`."""
  config = tiny_config(records, model=ModelSpec('etcsum_tiny'))
  known = dataclasses.replace(config.input, unit_tokens=24)
  task = selector_task(dataclasses.replace(config, input=known))
  assert task.module == task.model.build_for(24)
  assert selector_task(config).module == task.model.build()


def test_a_record_beyond_the_buckets_is_named(labelled):
  with pytest.raises(InputError, match='tokens but the largest size is 16'):
    source(labelled, buckets=Buckets((16,), (8,)))


def test_references_are_padded_and_cut(labelled):
  with pytest.raises(InputError, match='has no reference: build records with'):
    Examples(labelled, 'all', reference_tokens=4)
  known = [
    (
      dataclasses.replace(
        record, reference=np.arange(1 + i % 7, dtype=np.int32)
      ),
      oracle,
    )
    for i, (record, oracle) in enumerate(labelled)
  ]
  examples = Examples(known, 'all', reference_tokens=4)
  size, group = next(iter(examples.by_bucket.items()))
  rows = np.arange(len(group) + 2)
  found = examples.batch((size, group), rows)['reference']
  assert found.shape == (len(rows), 4)
  for row, index in zip(found, group, strict=False):
    kept = list(range(min(1 + int(index) % 7, 4)))
    assert row.tolist() == kept + [-1] * (4 - len(kept))
  assert (found[len(group) :] == -1).all()
  config = InputConfig('-', 3, plan_steps=2, reference_tokens=5)
  assert empty_batch(config, (8, 4), 3, stepwise=True)['reference'].shape == (
    3,
    5,
  )
