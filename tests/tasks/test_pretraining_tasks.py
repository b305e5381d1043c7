"""Masked documents of files: seeds of SeqIO draw what is masked."""

import numpy as np
import seqio

from stepwise.data import Masking, make_record, word_pieces, wordpiece
from stepwise.documents import make_document
from stepwise.tasks.pretraining import (
  MaskedFeatureConverter,
  pretraining_lengths,
  register_pretraining_task,
)
from tests.tasks.stories import STORIES, write_stories

MASKING = Masking(0.3, 0.3, min_units=4)
LENGTHS = pretraining_lengths(40, 8, MASKING)


def rows_of(tmp_path, seed):
  path = write_stories(tmp_path / 'stories.jsonl')
  register_pretraining_task(
    'stories_pretraining', {'train': path}, masking=MASKING, max_units=8
  )
  dataset = seqio.get_dataset(
    'stories_pretraining',
    LENGTHS,
    MaskedFeatureConverter(8),
    dataset_split='train',
    shuffle=False,
    use_cached=False,
    seed=seed,
  )
  return list(dataset.as_numpy_iterator())


def test_documents_of_files_are_masked(tmp_path):
  rows = rows_of(tmp_path, seed=1)
  # Two stories have four sentences; the others are left out.
  stories = [STORIES[0], STORIES[2]]
  assert len(rows) == 2
  mask = word_pieces(wordpiece()).mask
  for row, story in zip(rows, stories, strict=True):
    record = make_record(
      make_document(dict(story)), wordpiece(), max_units=8, max_tokens=40
    )
    size = len(record.tokens)
    assert {k: v.shape[0] for k, v in row.items()} == {**LENGTHS, 'valid': 8}
    np.testing.assert_array_equal(row['unit_ids'][:size], record.unit_ids)
    assert (row['unit_ids'][size:] == -1).all()
    assert row['valid'].sum() == record.num_units
    hidden = np.isin(row['unit_ids'][:size], row['hidden'][row['hidden'] >= 0])
    assert hidden.any()
    assert (row['tokens'][:size][hidden] == mask).all()
    known = row['hidden_tokens'][row['hidden_slots'] >= 0]
    restored = row['tokens'][:size].copy()
    restored[hidden] = known
    real = row['masked'] >= 0
    restored[row['masked'][real]] = row['labels'][real]
    np.testing.assert_array_equal(restored, record.tokens)


def test_the_seed_draws(tmp_path):
  first, same, other = (rows_of(tmp_path, seed) for seed in (1, 1, 2))
  for name in first[0]:
    np.testing.assert_array_equal(first[0][name], same[0][name])
  assert any(
    (a['tokens'] != b['tokens']).any()
    for a, b in zip(first, other, strict=True)
  )
