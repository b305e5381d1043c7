"""Records and examples: the contract, cutting, and the offset of units."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepwise._errors import InputError
from stepwise.data import (
  extractive_example,
  make_record,
  stepwise_examples,
  wordpiece,
)
from stepwise.documents import Document, make_document

# Units of 1, 2, 3, 4 and 5 word pieces.
UNIT_LENGTHS = (1, 2, 3, 4, 5)
UNITS = [' '.join(['word'] * length) for length in UNIT_LENGTHS]


@pytest.fixture
def document() -> Document:
  return make_document({'article': UNITS, 'id': 'five'})


def test_a_record_lists_the_pieces_of_units_after_the_special_ones(document):
  record = make_record(document, wordpiece())
  word = wordpiece().encode_units(['word'])[0]
  assert record.tokens.tolist() == [10, 11, *word * 15]
  assert record.unit_ids.tolist() == [
    *(0, 1, 2, 3, 3, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6, 6)
  ]
  assert record.tokens.dtype == record.unit_ids.dtype == np.int32
  assert record.spans == ((0, 0), (0, 0), *document.spans)
  assert (record.num_units, record.special) == (7, 2)
  assert (record.units_cut, record.units_shortened) == (0, 0)
  assert (record.tokenizer, record.id) == ('wordpiece', 'five')


def test_special_units_of_tables_and_of_extractive_records(document):
  record = make_record(
    document, wordpiece(), special_units=('eos', 'eot', 'beg')
  )
  assert record.tokens[:3].tolist() == [12, 10, 11]
  assert make_record(document, wordpiece(), special_units=()).special == 0


@pytest.mark.parametrize(
  ('limits', 'lengths', 'cut', 'shortened'),
  [
    ({'max_tokens': 2 + 6}, [1, 2, 3], 2, 0),
    ({'max_tokens': 2 + 9}, [1, 2, 3], 2, 0),
    ({'max_tokens': 2 + 10}, [1, 2, 3, 4], 1, 0),
    ({'max_units': 2 + 4}, [1, 2, 3, 4], 1, 0),
    ({'max_unit_tokens': 3}, [1, 2, 3, 3, 3], 0, 2),
    ({'max_unit_tokens': 2, 'max_tokens': 2 + 5}, [1, 2, 2], 2, 1),
    ({'max_units': 3, 'max_unit_tokens': 1}, [1], 4, 0),
  ],
)
def test_documents_are_cut_at_whole_units(
  document, limits, lengths, cut, shortened
):
  record = make_record(document, wordpiece(), **limits)
  assert np.bincount(record.unit_ids).tolist() == [1, 1, *lengths]
  assert record.spans[2:] == document.spans[: len(lengths)]
  assert (record.units_cut, record.units_shortened) == (cut, shortened)


def test_a_first_unit_that_is_too_long_is_cut_inside():
  document = make_document({'article': ['a b c d e f g', 'h']})
  record = make_record(document, wordpiece(), max_tokens=5)
  assert record.unit_ids.tolist() == [0, 1, 2, 2, 2]
  assert (record.units_cut, record.units_shortened) == (1, 1)


@pytest.mark.parametrize(
  ('arguments', 'message'),
  [
    ({'max_tokens': 2}, 'max_tokens is 2; it must be more than 2'),
    ({'max_units': 1}, 'max_units is 1; it must be more than 2'),
    ({'max_unit_tokens': 0}, 'max_unit_tokens is 0; it must be more than 0'),
    ({'special_units': ('bos',)}, "special_units has 'bos'; known names are"),
  ],
)
def test_impossible_records(document, arguments, message):
  with pytest.raises(InputError, match=message):
    make_record(document, wordpiece(), **arguments)


def test_a_document_without_units_has_no_record():
  with pytest.raises(InputError, match="document 'none' has no units"):
    make_record(Document('', (), id='none'), wordpiece())


@settings(deadline=None, max_examples=50)
@given(
  st.lists(st.text('ab. \n', min_size=1).filter(str.strip), min_size=1),
  st.integers(3, 30),
  st.integers(3, 12),
  st.integers(1, 5),
)
def test_records_keep_the_contract_and_the_limits(
  article, max_tokens, max_units, max_unit_tokens
):
  document = make_document({'article': article})
  record = make_record(
    document,
    wordpiece(),
    max_tokens=max_tokens,
    max_units=max_units,
    max_unit_tokens=max_unit_tokens,
  )
  lengths = np.bincount(record.unit_ids, minlength=record.num_units)
  assert (np.diff(record.unit_ids) >= 0).all()
  assert lengths.min() >= 1
  assert lengths.max() <= max(max_unit_tokens, 1)
  assert len(record.tokens) == len(record.unit_ids) <= max_tokens
  assert record.num_units == len(lengths) <= max_units
  assert record.num_units + record.units_cut == 2 + len(document.spans)


def _choices(examples) -> list[tuple[list[int], list[int]]]:
  return [(e['plan'].tolist(), e['targets'].tolist()) for e in examples]


def test_examples_of_all_steps(document):
  record = make_record(document, wordpiece())
  # Sentence 0 is unit 2; EOT is unit 0; the order given is kept.
  [example] = examples = stepwise_examples(record, [3, 0])
  assert _choices(examples) == [([], [5, 2, 0])]
  assert example['tokens'] is record.tokens
  assert example['unit_ids'] is record.unit_ids
  assert {array.dtype for array in example.values()} == {np.dtype(np.int32)}


def test_examples_of_single_steps(document):
  record = make_record(
    document, wordpiece(), special_units=('eos', 'eot', 'beg')
  )
  steps = [([], [3]), ([3], [7]), ([3, 7], [1])]
  assert _choices(stepwise_examples(record, [0, 4], mode='steps')) == steps
  rng = np.random.default_rng(0)
  drawn = [
    _choices(stepwise_examples(record, [0, 4], mode='sample', rng=rng))
    for _ in range(30)
  ]
  assert all(len(examples) == 1 for examples in drawn)
  assert sorted({str(example) for [example] in drawn}) == sorted(
    str(step) for step in steps
  )


def test_chosen_units_that_were_cut_are_left_out(document):
  record = make_record(document, wordpiece(), max_tokens=2 + 6)
  assert _choices(stepwise_examples(record, [1, 2, 3])) == [([], [3, 4, 0])]
  assert _choices(stepwise_examples(record, [4])) == [([], [0])]


def test_the_extractive_example_is_a_set(document):
  record = make_record(document, wordpiece(), special_units=())
  example = extractive_example(record, [4, 1, 4])
  assert _choices([example]) == [([], [1, 4])]


def test_examples_name_mistakes(document):
  record = make_record(document, wordpiece())
  plain = make_record(document, wordpiece(), special_units=())
  with pytest.raises(InputError, match="oracle_units has 5; document 'five'"):
    stepwise_examples(record, [5])
  with pytest.raises(InputError, match='need the special unit `eot`'):
    stepwise_examples(plain, [0])
  with pytest.raises(InputError, match="mode is 'sample'; it must be"):
    stepwise_examples(record, [0], mode='sample')
  with pytest.raises(InputError, match='extractive records have no special'):
    extractive_example(record, [0])
