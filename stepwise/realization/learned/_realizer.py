"""The learned realizer: an encoder-decoder writes, sentence by sentence."""

import dataclasses
import functools
import os
from collections.abc import Collection, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jaxtyping import Bool, Int

from stepwise._errors import InputError
from stepwise.checkpoints import Bundle
from stepwise.realization._inputs import (
  TEAM_CONTEXT,
  GameInputs,
  InputFormat,
  encode_inputs,
)
from stepwise.realization._realizer import (
  Authored,
  Sentences,
  check_plans,
  plain_texts,
)
from stepwise.realization._slots import decode_pieces
from stepwise.realization.learned._bundle import load_realizer
from stepwise.realization.learned._by_reference import Pieces, ReferenceWriter
from stepwise.realization.learned._config import PAD, SearchConfig
from stepwise.realization.learned._numerals import Numerals, NumeralTrie
from stepwise.realization.learned._search import check_texts, search_texts
from stepwise.realization.learned._text import (
  join_tokens,
  name_spellings,
  restore_case,
)
from stepwise.rotowire import DATE, Game
from stepwise.tables import Plan, Relation

# The name of the realizer that comes with the package.
PACKAGED = 'learned'
# Sentences by reference are short, and the longer ones say more.
_BY_REFERENCE = SearchConfig(beam_size=6, max_tokens=40, length_alpha=1.2)
# Inputs are padded to a multiple: a new length is a new compilation.
_LENGTH_STEP = 128
# Inputs by reference are short.
_SHORT_STEP = 32


@dataclasses.dataclass(frozen=True)
class LearnedRealizer:
  """A trained encoder-decoder, sentence after sentence, game beside game.

  Every sentence it writes is part of the input of the next, but for slots
  without context; with slots, what is not true or not complete the templates
  write instead.

  Attributes:
    bundle: the model.
    format: of its inputs.
    search: how sentences are searched for.
    confine_numerals: write no numeral that the values it reads do not have;
      with slots there is no other way.
    more_words: with slots and context, sentences are searched for that are so
      many words longer than people's; those of the first length are preferred.
    batch_size: games written at the same time; with slots, sentences.
    name: of the realizer.
  """

  bundle: Bundle
  format: InputFormat = InputFormat()
  search: SearchConfig = SearchConfig()
  confine_numerals: bool = True
  more_words: tuple[int, ...] = (8, 4)
  batch_size: int = 16
  name: str = 'learned'

  def realize(
    self, games: Sequence[Game], plans: Sequence[Plan]
  ) -> list[Sentences]:
    return plain_texts(self.realize_authored(games, plans))

  def realize_authored(
    self, games: Sequence[Game], plans: Sequence[Plan]
  ) -> list[list[Authored]]:
    check_plans(games, plans)
    if self.format.slots:
      return self._by_reference(games, plans)
    writers = [
      _Writer(game, plan, self.format)
      for game, plan in zip(games, plans, strict=True)
    ]
    for index in range(max(map(len, plans))):
      open_ones = [w for w in writers if index < len(w.plan)]
      for start in range(0, len(open_ones), self.batch_size):
        self._write(open_ones[start : start + self.batch_size])
    return [
      [Authored(text, '', self.name) for text in writer.written]
      for writer in writers
    ]

  def _by_reference(
    self, games: Sequence[Game], plans: Sequence[Plan]
  ) -> list[list[Authored]]:
    """Together where no sentence reads another; or else one after another."""
    writers = [
      ReferenceWriter(game, plan, self.format)
      for game, plan in zip(games, plans, strict=True)
    ]
    longest = max(map(len, writers))
    step = 1 if self.format.context else longest
    for start in range(0, longest, step):
      numbers = range(start, start + step)
      asked = [
        (owner, number)
        for owner, writer in enumerate(writers)
        for number in numbers
        if number < len(writer)
      ]
      found = self._sentences(writers, asked)
      for owner, number in asked:
        writers[owner].add(found.get((owner, number), []))
    return [writer.report(self.name) for writer in writers]

  def _sentences(
    self,
    writers: Sequence[ReferenceWriter],
    asked: Sequence[tuple[int, int]],
  ) -> dict[tuple[int, int], list[Pieces]]:
    """Sentences by owner and number, those of the first length first."""
    most, longest = len(self._tokenizer.slots), self.bundle.config.positions
    more = self.more_words if self.format.context else (0,)
    rows = [
      ((owner, number), ids, slots, writers[owner].impossible(number))
      for owner, number in asked
      for given, slots in writers[owner].inputs(number, more)
      if slots <= most
      for ids in encode_inputs([given], self._tokenizer, slots=True)
      if len(ids) <= longest
    ]
    # Alike lengths together; those of one sentence are alike.
    rows.sort(key=lambda row: len(row[1]))
    found: dict[tuple[int, int], list[Pieces]] = {}
    for start in range(0, len(rows), self.batch_size):
      part = rows[start : start + self.batch_size]
      empty = self.batch_size - len(part)
      tries = self._numerals.slot_tries([p[2] for p in part] + [0] * empty)
      words = [row[3] for row in part]
      texts = self._found([row[1] for row in part], tries, words)
      for (key, *_), pieces in zip(part, texts, strict=True):
        found.setdefault(key, []).extend(
          decode_pieces(ids, self._tokenizer) for ids in pieces
        )
    return found

  def _found(
    self,
    inputs: Sequence[Sequence[int]],
    tries: NumeralTrie | None,
    impossible: Sequence[Collection[str]] = (),
  ) -> list[list[list[int]]]:
    """Texts of every input, best first, without words that cannot be."""
    step = _SHORT_STEP if self.format.slots else _LENGTH_STEP
    positions = self.bundle.config.positions
    padded = _pad(inputs, self.batch_size, positions, step)
    result = check_texts(
      self._search(padded, tries, self._forbidden(impossible))
    )
    tokens, scores = np.asarray(result.tokens), np.asarray(result.scores)
    return [
      [row[row != PAD].tolist() for row in texts[known > -np.inf]]
      for texts, known, _ in zip(tokens, scores, inputs, strict=False)
    ]

  def _forbidden(
    self, words: Sequence[Collection[str]]
  ) -> Bool[np.ndarray, 'batch vocab'] | None:
    """Which tokens every text may not have; None if it may have all."""
    if not words:
      return None
    rows = np.zeros((self.batch_size, self.bundle.config.vocab), bool)
    for row, each in zip(rows, words, strict=False):
      row[[self._pieces[word] for word in each if word in self._pieces]] = True
    return rows

  @functools.cached_property
  def _pieces(self) -> dict[str, int]:
    pieces = self._tokenizer.pieces()
    return {piece: index for index, piece in enumerate(pieces)}

  def _write(self, writers: Sequence['_Writer']) -> None:
    """Adds a sentence to every report."""
    tokenizer = self._tokenizer
    inputs = encode_inputs([w.input() for w in writers], tokenizer)
    for writer, ids in zip(writers, inputs, strict=True):
      _check_length(writer, len(ids), self.bundle.config.positions)
    found = self._found(inputs, self._tries(writers))
    for writer, texts in zip(writers, found, strict=True):
      writer.add(texts[0], tokenizer)

  def _tries(self, writers: Sequence['_Writer']) -> NumeralTrie | None:
    """What numbers of the next sentences may be."""
    if not self.confine_numerals:
      return None
    # Rows that fill up the batch.
    empty = self.batch_size - len(writers)
    values = [writer.values() for writer in writers]
    return self._numerals.tries([*values, *[()] * empty])

  @property
  def _tokenizer(self) -> Any:
    return self.bundle.tokenizer

  @functools.cached_property
  def _numerals(self) -> Numerals:
    return Numerals(self._tokenizer, self.format.slots)

  @functools.cached_property
  def _search(self) -> Any:
    model: Any = self.bundle.model
    end = self._tokenizer.sep
    classes = _fit_rows(self._numerals.classes, self.bundle.config.vocab)

    @jax.jit
    def run(params: Any, inputs: Any, tries: Any, forbidden: Any) -> Any:
      options = {'end': end, 'numerals': tries, 'forbidden': forbidden}
      return search_texts(
        model, params, inputs, classes, self.search, **options
      )

    return functools.partial(run, self.bundle.variables['params'])


class _Writer:
  """A report while it is written."""

  def __init__(self, game: Game, plan: Plan, format: InputFormat):
    self.game = game
    self.plan = plan
    self.written: list[str] = []
    self._inputs = GameInputs(game, format)
    self._format = format

  @property
  def _next(self) -> tuple[Relation, ...]:
    return self.plan[len(self.written)]

  def input(self) -> Any:
    previous = self.written[-1] if self.written else ''
    return self._inputs(self._next, previous)

  def values(self) -> list[str]:
    """Texts whose numerals the next sentence may have."""
    values = [r.value for r in self._next if r.type != DATE]
    if self._format.context:
      teams = self.game.teams
      values += [team.values[type] for team in teams for type in TEAM_CONTEXT]
    return values

  def add(self, ids: Sequence[int], tokenizer: Any) -> None:
    """Goes on with a sentence."""
    text = tokenizer.decode(ids).strip()
    if tokenizer.lowercase:
      so_far = self.plan[: len(self.written) + 1]
      named = {relation.entity for sentence in so_far for relation in sentence}
      text = restore_case(text, name_spellings(self.game, named, tokenizer))
    self.written.append(join_tokens(text))


def open_realizer(
  name: str | os.PathLike[str], *, beams: int | None = None, **options: Any
) -> LearnedRealizer:
  """The realizer of a bundle.

  Args:
    name: its folder; the one that comes with the package is called `learned`.
    beams: hypotheses kept; None = as many as suit it.
    **options: fields of `LearnedRealizer`.
  """
  folder = packaged_realizer() if name == PACKAGED else name
  bundle, format = load_realizer(folder)
  search = _BY_REFERENCE if format.slots else SearchConfig()
  if beams:
    search = dataclasses.replace(search, beam_size=beams)
  options = {'search': search, **options}
  return LearnedRealizer(bundle, format, name=os.fspath(name), **options)


def packaged_realizer() -> Path:
  """The folder of the realizer that comes with the package."""
  return Path(str(resources.files('stepwise.realization.learned'))) / 'bundle'


def _check_length(writer: _Writer, length: int, positions: int) -> None:
  if length > positions:
    number = len(writer.written) + 1
    raise InputError(
      f'sentence {number} of the plan has {len(writer.plan[number - 1])} '
      f'entries, {length} tokens with what precedes them; the realizer reads '
      f'{positions}: break the sentence.'
    )


def _pad(
  inputs: Sequence[Sequence[int]], batch: int, positions: int, step: int
) -> Int[np.ndarray, 'batch source']:
  longest = max(map(len, inputs))
  length = min(-(-longest // step) * step, positions)
  padded = np.full((batch, length), PAD, np.int32)
  for row, ids in enumerate(inputs):
    padded[row, : len(ids)] = ids
  return padded


def _fit_rows(classes: Any, vocab: int) -> Any:
  """As many rows as the model's token table; rows beyond write nothing."""
  return type(classes)(
    *(
      np.pad(field[:vocab], (0, max(vocab - len(field), 0)))
      for field in classes
    )
  )
