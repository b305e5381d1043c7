"""The task of the realizer, registered on import.

`rotowire_realize` has one example for every sentence of a summary: `inputs` as
the paper lists them and `targets`, ids of `wordpiece`; `rotowire_realize_bpe`
has those of the byte-level BPE in `$STEPWISE_DATA/roberta`. Files are
`$STEPWISE_DATA/rotowire/{train,validation,test}.json`, in the layout of
Rotowire. `targets` end with the delimiter of the tokeniser, which is the
`eos_id` of the vocabulary. SeqIO cuts what is longer than the lengths it is
given: 512 and 128 leave everything whole but for a few inputs.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import seqio
import tensorflow as tf

from stepwise.data import Tokenizer, wordpiece
from stepwise.evaluation import bleu
from stepwise.realization import make_examples
from stepwise.rotowire import read_games
from stepwise.tasks._sources import DocumentFiles
from stepwise.tasks.cnn_dailymail import bpe

_SPLITS = ('train', 'validation', 'test')
_FILES = {split: f'$STEPWISE_DATA/rotowire/{split}.json' for split in _SPLITS}
_IDS = tf.TensorSpec([None], tf.int32)
_SPEC = {'id': tf.TensorSpec([], tf.string), 'inputs': _IDS, 'targets': _IDS}


def register_realize_task(
  name: str,
  files_by_split: dict[str, str | Sequence[str]],
  *,
  tokenizer: Callable[[], Tokenizer] = wordpiece,
  end: int = 102,
) -> None:
  """Registers a task of games; one of the same name is replaced.

  Args:
    name: of the task.
    files_by_split: paths or patterns of every split, see `DocumentFiles`.
    tokenizer: loads the tokeniser, when it is first needed.
    end: its `sep`, which cannot be asked before it is loaded.
  """
  vocabulary = seqio.PassThroughVocabulary(size=0, eos_id=end)
  feature = seqio.Feature(vocabulary, add_eos=False, dtype=tf.int32)
  read = partial(_read_file, tokenizer)
  seqio.TaskRegistry.remove(name)
  seqio.TaskRegistry.add(
    name,
    DocumentFiles(files_by_split, read),  # pyright: ignore
    output_features={'inputs': feature, 'targets': feature},
    preprocessors=[_drop_mark, seqio.CacheDatasetPlaceholder()],
    postprocess_fn=partial(_decode, tokenizer, end),
    metric_fns=[bleu_metric],
  )


def bleu_metric(
  targets: Sequence[str], predictions: Sequence[str]
) -> dict[str, float]:
  """Corpus BLEU of sentences; `stepwise evaluate-rotowire` scores reports."""
  return {'bleu': bleu(list(predictions), list(targets)).score}


def _read_file(tokenizer: Callable[[], Tokenizer], path: Any) -> Any:
  def examples(path: bytes) -> Iterator[dict[str, Any]]:
    made, _ = make_examples(read_games(path.decode()), tokenizer())
    for example in made:
      yield example._asdict()

  return tf.data.Dataset.from_generator(
    examples, args=(path,), output_signature=_SPEC
  )


def _drop_mark(dataset: Any) -> Any:
  return dataset.map(lambda example: {key: example[key] for key in _SPEC})


def _decode(
  tokenizer: Callable[[], Tokenizer], end: int, ids: Any, **unused: Any
) -> str:
  """The text before the end, as the ids of a model or of a target."""
  del unused
  text = [int(index) for index in ids]
  text = text[: text.index(end)] if end in text else text
  return tokenizer().decode([index for index in text if index])


register_realize_task('rotowire_realize', {**_FILES})
register_realize_task('rotowire_realize_bpe', {**_FILES}, tokenizer=bpe, end=2)
