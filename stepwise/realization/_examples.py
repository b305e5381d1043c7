"""Training examples of the realizer: one for every sentence of a summary."""

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Int32

from stepwise._errors import InputError
from stepwise.data import Tokenizer, open_for_reading, replace_when_done
from stepwise.extraction import (
  AnnotatedSentence,
  find_extractor,
  placed_sentences,
)
from stepwise.realization._claims import Claims
from stepwise.realization._inputs import (
  TEAM_CONTEXT,
  GameInputs,
  InputFormat,
  SentenceInput,
  encode_inputs,
)
from stepwise.realization._slots import (
  Piece,
  encode_pieces,
  take_out,
  with_ones,
)
from stepwise.rotowire import NAME_TYPES, Game
from stepwise.tables import Relation

# Words of a sentence by reference that are not in the list. They teach how
# sentences go, and are never written.
_UNKNOWN = 2


@dataclass(frozen=True)
class ExampleOptions:
  """Which examples are made, and how.

  Attributes:
    format: of the inputs.
    covered: leave out sentences with a number that is neither in their plan
      nor a team's points, wins or losses: nobody could write them from it.
    max_input, max_target: longer examples are left out; None = none is.
    extractor: of oracle plans, a name of `stepwise.extraction.EXTRACTORS`.
  """

  format: InputFormat = InputFormat()
  covered: bool = False
  max_input: int | None = None
  max_target: int | None = None
  extractor: str = 'lookup'


class Example(NamedTuple):
  """A sentence to write, as ids.

  `inputs` are those of `encode_inputs`; `targets` are the sentence and
  `Tokenizer.sep`. Neither has padding or a begin token.
  """

  id: str
  inputs: Int32[np.ndarray, ' source']
  targets: Int32[np.ndarray, ' length']


class SentencePair(NamedTuple):
  """A sentence of a summary, what it is written from, and if it can be.

  Attributes:
    input: what is read.
    text: the sentence.
    covered: nothing in it is unknown to the input.
    pieces: what is written: the sentence, or words and slots.
  """

  input: SentenceInput
  text: str
  covered: bool
  pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class ExampleReport:
  """What became of the sentences with entries of some games."""

  sentences: int
  uncovered: int
  too_long: int

  @property
  def written(self) -> int:
    return self.sentences - self.uncovered - self.too_long


def sentence_pairs(
  game: Game, format: InputFormat = InputFormat(), extractor: str = 'lookup'
) -> list[SentencePair]:
  """Sentences of a summary that state entries, with their inputs.

  The sentence before is the last one with entries, as when generating.
  """
  make, claims, previous = GameInputs(game, format), Claims(game), ''
  pairs = []
  for sentence, places in placed_sentences(game, find_extractor(extractor)):
    relations = tuple(place.relation for place in places)
    known = make.known(relations)
    if known:
      text = ' '.join(sentence.tokens)
      pieces: tuple[Piece, ...] | None = (text,)
      covered = _is_covered(sentence, known, game)
      if format.slots:
        places = with_ones(sentence, places, game)
        known = make.known([place.relation for place in places])
        slots = make.slots(known)
        kept = [place for place in places if place.relation in known]
        pieces = take_out(sentence, kept, slots)
        covered = pieces is not None and claims.support(pieces, slots)
        covered &= any(r.type not in NAME_TYPES for r in known)
      pair = SentencePair(make(known, previous), text, covered, pieces or ())
      pairs.append(pair)
      previous = text
  return pairs


def _is_covered(
  sentence: AnnotatedSentence, relations: Sequence[Relation], game: Game
) -> bool:
  known = {relation.value for relation in relations}
  known |= {team.values[type] for team in game.teams for type in TEAM_CONTEXT}
  return all(str(number.value) in known for number in sentence.numbers)


def make_examples(
  games: Iterable[Game],
  tokenizer: Tokenizer,
  options: ExampleOptions = ExampleOptions(),
) -> tuple[list[Example], ExampleReport]:
  """Examples of the sentences of games, in order, and what was left out."""
  made, sentences, uncovered = [], 0, 0
  for game in games:
    pairs = sentence_pairs(game, options.format, options.extractor)
    # What is not covered cannot be written with slots.
    only_covered = options.covered or options.format.slots
    kept = [pair for pair in pairs if pair.covered or not only_covered]
    encoded = _encode(game, kept, tokenizer, options.format)
    if options.format.slots:
      unknown = [(e.targets == tokenizer.unk).sum() for e in encoded]
      encoded = [
        e for e, n in zip(encoded, unknown, strict=True) if n <= _UNKNOWN
      ]
    sentences += len(pairs)
    uncovered += len(pairs) - len(encoded)
    made += encoded
  fitting = [example for example in made if _fits(example, options)]
  too_long = len(made) - len(fitting)
  return fitting, ExampleReport(sentences, uncovered, too_long)


def _encode(
  game: Game,
  pairs: Sequence[SentencePair],
  tokenizer: Tokenizer,
  format: InputFormat,
) -> list[Example]:
  inputs = encode_inputs(
    [pair.input for pair in pairs], tokenizer, slots=format.slots
  )
  targets = encode_pieces([pair.pieces for pair in pairs], tokenizer)
  return [
    Example(
      f'{game.id}:{number}',
      np.array(source, np.int32),
      np.array([*target, tokenizer.sep], np.int32),
    )
    for number, (source, target) in enumerate(zip(inputs, targets, strict=True))
  ]


def _fits(example: Example, options: ExampleOptions) -> bool:
  return len(example.inputs) <= (
    options.max_input or len(example.inputs)
  ) and len(example.targets) <= (options.max_target or len(example.targets))


def save_examples(
  path: str | os.PathLike[str],
  examples: Iterable[Example],
  tokenizer: Tokenizer,
  format: InputFormat = InputFormat(),
) -> int:
  """Writes examples, one JSON object a line; returns how many.

  The file appears when it is complete; it is compressed if its name ends in
  `.gz` or `.zst`.
  """
  count = 0
  with replace_when_done(Path(path)) as stream:
    for example in examples:
      row = {
        'id': example.id,
        'tokenizer': tokenizer.name,
        'context': format.context,
        'slots': format.slots,
        'inputs': example.inputs.tolist(),
        'targets': example.targets.tolist(),
      }
      stream.write(json.dumps(row, separators=(',', ':')).encode() + b'\n')
      count += 1
  return count


def load_examples(
  path: str | os.PathLike[str],
) -> tuple[list[Example], str, InputFormat]:
  """Examples of a file, the name of their tokeniser, and their format."""
  path, examples, kinds = Path(path), [], set()
  with open_for_reading(path) as stream:
    for number, line in enumerate(stream, start=1):
      try:
        row = json.loads(line)
        kinds.add((row['tokenizer'], row['context'], row.get('slots', False)))
        inputs, targets = (
          np.array(row[name], np.int32) for name in ('inputs', 'targets')
        )
        examples.append(Example(row['id'], inputs, targets))
      except (ValueError, KeyError, TypeError) as error:
        raise InputError(
          f'{path}:{number}: not an example of the realizer ({error}); such '
          'files are written by `stepwise data realize`.'
        ) from error
  if len(kinds) != 1:
    raise InputError(
      f'{path} has examples of {len(kinds)} formats; one is needed.'
    )
  [(tokenizer, *format)] = kinds
  return examples, tokenizer, InputFormat(*format)
