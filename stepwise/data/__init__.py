"""Documents in, records out: pure Python and numpy, no JAX, no TensorFlow."""

from stepwise._files import open_for_reading, replace_when_done
from stepwise.data._buckets import (
  Buckets,
  PaddedRecords,
  batches,
  pad_batch,
  restore_order,
)
from stepwise.data._build import (
  BuildReport,
  RecordOptions,
  build_records,
  label_documents,
  read_oracles,
  search_options,
)
from stepwise.data._check import FileReport, check_files
from stepwise.data._masking import (
  MaskedSizes,
  Masking,
  WordPieces,
  mask_record,
  pad_masked,
  word_pieces,
  word_starts,
)
from stepwise.data._oracle_run import (
  OracleOptions,
  document_oracle,
  document_oracles,
  oracle_row,
  write_oracles,
)
from stepwise.data._record_files import (
  RecordFiles,
  load_records,
  record_line,
  record_sizes,
  save_records,
)
from stepwise.data._records import (
  Record,
  extractive_example,
  make_record,
  stepwise_examples,
)
from stepwise.data._resumable import ResumableLines
from stepwise.data._sample import sample_lines
from stepwise.data._summaries import (
  Prediction,
  Reference,
  pair_predictions,
  parse_prediction,
  parse_reference,
  read_predictions,
  read_references,
)
from stepwise.data._tokenizers import (
  BPE_FILES,
  Tokenizer,
  byte_level_bpe,
  load_tokenizer,
  report_words,
  wordpiece,
)
from stepwise.data.oracle import (
  Oracle,
  combination_oracle,
  find_oracle,
  fitting_units,
  greedy_oracle,
)

__all__ = [
  'BPE_FILES',
  'Buckets',
  'BuildReport',
  'FileReport',
  'MaskedSizes',
  'Masking',
  'Oracle',
  'OracleOptions',
  'PaddedRecords',
  'Prediction',
  'Record',
  'RecordFiles',
  'RecordOptions',
  'Reference',
  'ResumableLines',
  'Tokenizer',
  'WordPieces',
  'batches',
  'build_records',
  'byte_level_bpe',
  'check_files',
  'combination_oracle',
  'document_oracle',
  'document_oracles',
  'extractive_example',
  'find_oracle',
  'fitting_units',
  'greedy_oracle',
  'label_documents',
  'load_records',
  'load_tokenizer',
  'make_record',
  'mask_record',
  'open_for_reading',
  'oracle_row',
  'pad_batch',
  'pad_masked',
  'pair_predictions',
  'parse_prediction',
  'parse_reference',
  'read_oracles',
  'read_predictions',
  'read_references',
  'record_line',
  'record_sizes',
  'replace_when_done',
  'report_words',
  'restore_order',
  'sample_lines',
  'save_records',
  'search_options',
  'stepwise_examples',
  'word_pieces',
  'word_starts',
  'wordpiece',
  'write_oracles',
]
