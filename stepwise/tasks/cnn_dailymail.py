"""Tasks of CNN/DailyMail, registered on import.

The names are `cnn_dailymail_KIND`, where KIND is `stepwise`,
`stepwise_sampled`, `stepwise_all` or `extractive` (see `register_tasks`),
followed by what differs:

| end of the name | articles | tokeniser |
|---|---|---|
| | TFDS `cnn_dailymail` | `wordpiece` |
| `_bpe` | TFDS | `byte_level_bpe` |
| `_jsonl` | files | `wordpiece` |
| `_bpe_jsonl` | files | `byte_level_bpe` |

Files are `$STEPWISE_DATA/cnn_dailymail/{train,validation,test}.jsonl`, with
`article` and `highlights`; the vocabulary of the byte-level BPE is
`$STEPWISE_DATA/roberta/{vocab.json,merges.txt}`. For other places call
`register_jsonl_tasks`.

Oracles and tokens are best prepared once, on any Beam runner:

    seqio_cache_tasks --tasks=cnn_dailymail_stepwise \\
      --output_cache_dir=CACHE --module_import=stepwise.tasks
"""

import functools
import os

from stepwise._errors import InputError
from stepwise.data import Tokenizer, load_tokenizer, wordpiece
from stepwise.tasks._preprocessors import parse_articles
from stepwise.tasks._registration import register_jsonl_tasks, register_tasks
from stepwise.tasks._sources import TfdsArticles

_NAME = 'cnn_dailymail'
_TFDS = 'cnn_dailymail:3.4.0'
_SPLITS = ('train', 'validation', 'test')


@functools.cache
def bpe() -> Tokenizer:
  """The byte-level BPE in `$STEPWISE_DATA/roberta`."""
  if 'STEPWISE_DATA' not in os.environ:
    raise InputError(
      'STEPWISE_DATA is not set; it must be the folder that holds '
      'roberta/vocab.json and roberta/merges.txt.'
    )
  folder = os.path.join(os.environ['STEPWISE_DATA'], 'roberta')
  return load_tokenizer(folder)


def _register() -> None:
  files = {split: f'$STEPWISE_DATA/{_NAME}/{split}.jsonl' for split in _SPLITS}
  for suffix, tokenizer in {'': wordpiece, '_bpe': bpe}.items():
    register_tasks(
      _NAME,
      TfdsArticles(_TFDS, splits=_SPLITS),
      parse=[parse_articles],
      tokenizer=tokenizer,
      suffix=suffix,
    )
    register_jsonl_tasks(
      _NAME, files, tokenizer=tokenizer, suffix=f'{suffix}_jsonl'
    )


_register()
