"""Documents as features of a dataset, and back.

The names are those that SeqIO and t5x write next to predictions: the text is
`inputs_pretokenized`, the reference `targets_pretokenized`, one sentence a
line. `spans` are the characters of every unit. What kind a unit is and which
language it is in are left out: no task asks.
"""

import numpy as np
import tensorflow as tf

from stepwise.documents import Document

DOCUMENT_SPEC: dict[str, tf.TensorSpec] = {
  'inputs_pretokenized': tf.TensorSpec((), tf.string),
  'spans': tf.TensorSpec((None, 2), tf.int32),
  'targets_pretokenized': tf.TensorSpec((), tf.string),
  'id': tf.TensorSpec((), tf.string),
}


def document_features(document: Document) -> dict[str, bytes | np.ndarray]:
  """The features of `DOCUMENT_SPEC`, in its order."""
  # A sentence is a line; a line break inside one is only a space to ROUGE.
  lines = [sentence.replace('\n', ' ') for sentence in document.summary]
  return {
    'inputs_pretokenized': document.text.encode(),
    'spans': spans_array(document.spans),
    'targets_pretokenized': '\n'.join(lines).encode(),
    # An id is free text: unlike the article it may not be valid Unicode.
    'id': document.id.encode(errors='replace'),
  }


def document_from_features(
  text: bytes, spans: np.ndarray, summary: bytes, name: bytes
) -> Document:
  """Undoes `document_features`; arguments in the order of the spec."""
  return Document(
    text=text.decode(),
    spans=tuple((int(start), int(end)) for start, end in spans),
    summary=tuple(summary_sentences(summary.decode())),
    id=name.decode(),
  )


def spans_array(spans: tuple[tuple[int, int], ...]) -> np.ndarray:
  """`[units 2]`, also without units."""
  return np.array(spans, np.int32).reshape(-1, 2)


def summary_sentences(lines: str) -> list[str]:
  """Sentences of `targets_pretokenized`."""
  return [line for line in lines.split('\n') if line]
