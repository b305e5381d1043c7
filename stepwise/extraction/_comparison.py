"""Systems side by side, as in the paper's tables of Rotowire."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from stepwise._errors import InputError
from stepwise.evaluation import ContentSelection
from stepwise.extraction._evaluate import (
  ReadOutputs,
  bleu_of_outputs,
  read_relations,
  score_relations,
  summaries,
)
from stepwise.extraction._outputs import Outputs
from stepwise.extraction._text import sentence_tokens
from stepwise.rotowire import Game, same_game


@dataclasses.dataclass(frozen=True)
class SystemRow:
  """A system on some games, with the strict scores of the field's script.

  Attributes:
    system: its name.
    games: which of them: `all`, `shared` with the training, or `others`.
    count: how many; None = as many as the paper has.
    rg_count, rg_precision: relations that the table supports; None for plans,
      whose entries are the table's own.
    cs: content selection.
    co: content ordering; the paper has none of plans.
    bleu: of texts against human ones.
    words, sentences: of a text on average, punctuation being no word.
  """

  system: str
  games: str
  count: int | None
  rg_count: float | None
  rg_precision: float | None
  cs: ContentSelection | None
  co: float | None
  bleu: float | None
  words: float | None = None
  sentences: float | None = None

  def to_dict(self) -> dict[str, Any]:
    """Plain numbers and strings, ready for JSON."""
    return dataclasses.asdict(self)


def compare_systems(
  systems: Mapping[str, Outputs],
  games: Sequence[Game],
  *,
  references: Outputs | None = None,
  training: Sequence[Game] = (),
  extractor: str = 'ensemble',
) -> Iterator[SystemRow]:
  """A row for every system; with `training` those of both kinds of games.

  Human texts are the last of the systems.

  Args:
    systems: by name, what each wrote or planned about every game.
    games: with their summaries, against which BLEU is measured.
    references: relations that CS and CO compare with; None = those of the
      summaries, as `extractor` finds them.
    training: games that systems have learnt from. The same games are in both
      splits of Rotowire; they are scored apart.
    extractor: a name that `find_extractor` knows, for whatever is text.
  """
  human = summaries(games)
  truth = read_relations(references or human, games, extractor)
  parts = {'all': range(len(games)), **_shared(games, training)}
  for name, outputs in {**systems, 'human summaries': human}.items():
    found = read_relations(outputs, games, extractor)
    for part, places in parts.items():
      yield _row(
        (name, part),
        found.only(places),
        truth.only(places),
        [games[place] for place in places],
      )


_COLUMNS = (
  *('system', 'games', 'RG #', 'RG P', 'CS P', 'CS R', 'CS F1', 'CO', 'BLEU'),
  *('words', 'sentences'),
)


def systems_table(rows: Sequence[SystemRow]) -> str:
  """Rows as a table of Markdown."""
  cells = [_COLUMNS, ['---'] * len(_COLUMNS), *map(_cells, rows)]
  return '\n'.join(f'| {" | ".join(line)} |' for line in cells)


def _cells(row: SystemRow) -> list[str]:
  cs = row.cs
  scores = (
    *(row.rg_count, row.rg_precision),
    *((cs.precision, cs.recall, cs.f1) if cs else (None,) * 3),
    *(row.co, row.bleu, row.words, row.sentences),
  )
  counted = '' if row.count is None else f'{row.count} '
  shown = ('' if score is None else f'{score:.2f}' for score in scores)
  return [row.system, f'{counted}{row.games}', *shown]


def _shared(
  games: Sequence[Game], training: Sequence[Game]
) -> dict[str, list[int]]:
  known = {same_game(game) for game in training}
  parts: dict[str, list[int]] = {'shared': [], 'others': []}
  for place, game in enumerate(games):
    parts['shared' if same_game(game) in known else 'others'].append(place)
  return parts if all(parts.values()) else {}


def _row(
  names: tuple[str, str],
  found: ReadOutputs,
  truth: ReadOutputs,
  games: Sequence[Game],
) -> SystemRow:
  scores = score_relations(found, truth, games)
  rg = scores.rg
  bleu = bleu_of_outputs(found.outputs, summaries(games))
  return SystemRow(
    *names,
    len(games),
    rg and rg.count,
    rg and rg.precision,
    scores.strict.cs,
    scores.strict.co,
    bleu and bleu.score,
    **_lengths(found.outputs.texts),
  )


def _lengths(texts: Sequence[str]) -> dict[str, float]:
  if not texts:
    return {}
  sentences = [sentence_tokens(text) for text in texts]
  words = [
    sum(any(map(str.isalnum, token)) for token in sentence)
    for text in sentences
    for sentence in text
  ]
  return {
    'words': sum(words) / len(texts),
    'sentences': fmean(map(len, sentences)),
  }


# Of the paper's Table 2 (test) and its table of validation: precision of RG,
# precision, recall and F1 of CS, CO, BLEU. The F1 that it prints of ETCSum's
# texts, 49.76, is not that of its precision and recall, which is 51.36.
_PUBLISHED: dict[str, dict[str, tuple[Any, ...]]] = {
  'test': {
    'CC': (74.80, 29.49, 36.18, 32.49, 15.42, 14.19),
    'NCP+CC': (87.47, 34.18, 51.22, 41.00, 18.58, 16.50),
    'HierEnc': (91.46, 36.09, 48.01, 41.21, 20.86, 16.85),
    'EdiNLG': (91.41, 30.91, 64.13, 41.71, 21.72, 17.01),
    'MS-GPT-50': (94.35, 33.91, 53.82, 41.61, 19.30, 15.17),
    'MS-End-to-End': (93.38, 32.40, 58.02, 41.58, 18.54, 15.03),
    'Systran-AI-Detok': (84.16, 34.88, 43.29, 38.63, 22.72, 18.32),
    'NLE': (94.08, 41.13, 54.20, 46.77, 25.64, 20.52),
    'Hierarchical D2T': (89.46, 39.47, 51.64, 44.74, 18.90, 17.50),
    'stepwise HiBERT': (95.88, 41.49, 53.86, 46.87, 18.10, 14.79),
    'stepwise HiBERT, plans': (None, 42.96, 55.81, 48.55, None, None),
    'stepwise ETCSum': (98.87, 45.79, 58.49, 49.76, 25.08, 17.56),
    'stepwise ETCSum, plans': (None, 46.02, 58.45, 51.50, None, None),
  },
  'valid': {
    'stepwise HiBERT': (95.97, 41.34, 57.62, 48.14, 19.19, 15.86),
    'stepwise HiBERT, plans': (None, 42.83, 59.62, 49.85, None, None),
    'stepwise ETCSum': (98.78, 45.18, 60.14, 51.60, 25.87, 17.93),
    'stepwise ETCSum, plans': (None, 45.53, 60.14, 51.82, None, None),
  },
}
# Words and sentences of a human summary on average, in the paper.
_PUBLISHED_LENGTHS = 337.1, 13.49


def published_systems(split: str) -> list[SystemRow]:
  """What the paper prints of a split, `test` or `valid`."""
  if split not in _PUBLISHED:
    raise InputError(f'the paper has no split {split!r}: {[*_PUBLISHED]}.')
  rows = [
    SystemRow(
      f'paper: {system}', 'all', None, None, rg, ContentSelection(*cs), co, bleu
    )
    for system, (rg, *cs, co, bleu) in _PUBLISHED[split].items()
  ]
  words, sentences = _PUBLISHED_LENGTHS
  human = SystemRow(
    *('paper: human summaries', 'all', None, None, None, None, None, None),
    words=words,
    sentences=sentences,
  )
  return [*rows, human]
