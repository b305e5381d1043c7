"""Training examples of the realizer: one for every sentence of a summary."""

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Int32

from stepwise._errors import InputError
from stepwise.data import (
  Tokenizer,
  open_for_reading,
  replace_when_done,
  report_words,
)
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
from stepwise.realization._parts import Part, told_parts
from stepwise.realization._slots import (
  Piece,
  encode_pieces,
  take_out,
  with_ones,
  with_unknown,
)
from stepwise.rotowire import NAME_TYPES, Game
from stepwise.tables import Relation

# Words of a sentence by reference that are not in the list. They teach how
# sentences go, and are never written.
_UNKNOWN = 2
# Why nothing is learnt from a sentence.
NOTHING = 'say no number of the table'
STRANGE = 'have a name or a number that no entry has'
UNTRUE = 'have words that the table does not support'
WORDS = 'have words that are not in the list'
REASONS = (NOTHING, STRANGE, UNTRUE, WORDS)


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
    text: the sentence, or what is used of it.
    reason: why nobody could write it from the input, one of `REASONS`; empty
      if somebody could.
    pieces: what is written: the sentence, or words and slots.
    sentence: its number among those of the summary.
    whole: nothing of the sentence was left out.
  """

  input: SentenceInput
  text: str
  reason: str
  pieces: tuple[Piece, ...]
  sentence: int
  whole: bool = True

  @property
  def covered(self) -> bool:
    """Whether nothing in it is unknown to the input."""
    return not self.reason


@dataclass(frozen=True)
class ExampleReport:
  """What became of the sentences with entries of some games.

  Attributes:
    sentences: of the games.
    written: examples; a sentence may give several, each a part of it.
    partly: sentences of which something was left out.
    reasons: sentences that gave none, by reason.
    too_long: examples that were left out for it.
  """

  sentences: int
  written: int
  partly: int
  reasons: Mapping[str, int]
  too_long: int

  @property
  def uncovered(self) -> int:
    return sum(self.reasons.values())


def sentence_pairs(
  game: Game, format: InputFormat = InputFormat(), extractor: str = 'lookup'
) -> list[SentencePair]:
  """Sentences of a summary that state entries, with their inputs.

  The sentence before is the last one with entries, as when generating.
  """
  make, previous, pairs = GameInputs(game, format), '', []
  parts = _Parts(game, make) if format.slots else None
  found = placed_sentences(game, find_extractor(extractor))
  for number, (sentence, places) in enumerate(found):
    known = make.known([place.relation for place in places])
    if not known:
      continue
    if parts:
      made = parts.pairs(Part(sentence, places), previous, number)
    else:
      text = ' '.join(sentence.tokens)
      reason = '' if _is_covered(sentence, known, game) else STRANGE
      made = [
        SentencePair(make(known, previous), text, reason, (text,), number)
      ]
    pairs += made
    previous = made[-1].text
  return pairs


class _Parts:
  """Sentences by reference of one game, whole or in part."""

  def __init__(self, game: Game, make: GameInputs):
    self._game = game
    self._make = make
    self._claims = Claims(game)
    self._words = frozenset(report_words().pieces())

  def pairs(
    self, sentence: Part, previous: str, number: int
  ) -> list[SentencePair]:
    pairs = []
    for part in told_parts(sentence, lambda part: not self._taken(part)[2]):
      known, pieces, _ = self._taken(part)
      text = ' '.join(part.sentence.tokens)
      words = sum(len(p.split()) for p in pieces if isinstance(p, str))
      given = self._make(known, previous, words)
      whole = part is sentence
      pairs.append(SentencePair(given, text, '', pieces, number, whole))
      previous = text
    if pairs:
      return pairs
    known, pieces, reason = self._taken(sentence)
    text, given = (
      ' '.join(sentence.sentence.tokens),
      self._make(known, previous),
    )
    return [SentencePair(given, text, reason, pieces, number)]

  def _taken(
    self, part: Part
  ) -> tuple[tuple[Relation, ...], tuple[Piece, ...], str]:
    """What a part is written from, its pieces, and why it is not learnt from.

    Words that the table does not support are unknown, as those that are not in
    the list: few of them teach how sentences go, and are never written.
    """
    sentence, places = part
    places = with_ones(sentence, places, self._game)
    known = self._make.known([place.relation for place in places])
    slots = self._make.slots(known)
    kept = [place for place in places if place.relation in known]
    pieces = take_out(sentence, kept, slots)
    if all(relation.type in NAME_TYPES for relation in known):
      return known, (), NOTHING
    if pieces is None:
      return known, (), STRANGE
    untrue = self._claims.unsupported(pieces, slots)
    if untrue is None or len(untrue) > _UNKNOWN:
      return known, (), UNTRUE
    pieces = with_unknown(pieces, untrue)
    texts = (piece for piece in pieces if isinstance(piece, str))
    unknown = [w for t in texts for w in t.split() if w not in self._words]
    reason = WORDS if len(unknown) + len(untrue) > _UNKNOWN else ''
    return known, pieces, reason


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
  made: list[Example] = []
  used: Counter[bool] = Counter()
  reasons: Counter[str] = Counter()
  # What is not covered cannot be written with slots.
  only_covered = options.covered or options.format.slots
  for game in games:
    pairs = sentence_pairs(game, options.format, options.extractor)
    kept = [pair for pair in pairs if not (pair.reason and only_covered)]
    left = [pair for pair in pairs if pair.reason and only_covered]
    reasons.update(pair.reason for pair in left)
    used.update({pair.sentence: pair.whole for pair in kept}.values())
    made += _encode(game, kept, tokenizer, options.format)
  fitting = [example for example in made if _fits(example, options)]
  return fitting, ExampleReport(
    sentences=used.total() + reasons.total(),
    written=len(fitting),
    partly=used[False],
    reasons={reason: reasons[reason] for reason in REASONS if reasons[reason]},
    too_long=len(made) - len(fitting),
  )


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
