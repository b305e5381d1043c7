"""How well are plans realized?

Realizes plans of games with the template realizer and, if bundles are given,
with trained ones; numerals of those that do not write by reference are confined
to what they read, and free. Reports RG, CS, CO and BLEU with 95 % bootstrap
intervals over games; with --references also the strict scores of the ensemble,
and what `rotowire check` finds. Given plans are made fuller, as by `report`.

  stepwise bench realizer valid.json --realizer learned --games 80
"""

import argparse
import dataclasses
import random
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import _harness

# isort: split
import numpy as np
from sacrebleu.metrics.bleu import BLEU

from stepwise.evaluation import (
  bleu,
  content_ordering,
  content_selection,
  relation_generation,
)
from stepwise.extraction import (
  Outputs,
  compare_systems,
  oracle_plan,
  read_outputs,
  stated_relations,
  tokenize,
)
from stepwise.realization import (
  Realizer,
  TemplateRealizer,
  check_text,
  fuller_plan,
  known_entries,
)
from stepwise.realization.learned import SearchConfig, open_realizer
from stepwise.rotowire import Game, game_table, read_games
from stepwise.tables import Plan

SAMPLES = 1000
COLUMNS = ('RG #', 'RG P', 'CS P', 'CS R', 'CS F1', 'CO', 'BLEU')


def main(arguments: Sequence[str] | None = None) -> None:
  options = _parse(arguments)
  # Names of files, wherever they lie.
  given = [Path(argument).name for argument in _args(arguments)]
  command = shlex.join(['stepwise', 'bench', 'realizer', *given])
  origin = _harness.provenance(
    command, _harness.host_name(), ['jax', 'flax', 'sacrebleu', 'stepwise']
  )
  places, games, plans = _choose(options)
  report: dict[str, Any] = {
    **origin,
    'games': len(games),
    'seed': options.seed,
    'plans': str(options.plans.name) if options.plans else 'oracle (lookup)',
    'extractor': 'lookup',
    'beams': options.beams,
    'systems': {},
  }
  for realizer in _realizers(options):
    started = time.perf_counter()
    written = realizer.realize(games, plans)
    seconds = time.perf_counter() - started
    texts = [' '.join(filter(None, text)) for text in written]
    scores = evaluate(texts, games)
    scores['seconds'] = round(seconds, 1)
    if options.references:
      scores['strict'] = strict(texts, games, options, places)
    report['systems'][realizer.name] = scores
    print(_line(realizer.name, scores), flush=True)
  if options.json:
    _harness.write_json(options.json, report)


def evaluate(texts: Sequence[str], games: Sequence[Game]) -> dict[str, Any]:
  """Every score with its 95 % interval, games being resampled together."""
  stated = [stated_relations(t, g) for t, g in zip(texts, games, strict=True)]
  wanted = [stated_relations(game.summary, game) for game in games]
  tables = [game_table(game, max_units=None).relations for game in games]
  tokens = [' '.join(tokenize(text)) for text in texts]
  truth = [' '.join(tokenize(game.summary)) for game in games]
  columns = _game_columns(stated, wanted, tables, tokens, truth)
  rng = np.random.default_rng(0)
  drawn = rng.integers(len(games), size=(SAMPLES, len(games)))
  sampled = np.array([_scores(columns[rows].sum(axis=0)) for rows in drawn])
  low, high = np.percentile(sampled, [2.5, 97.5], axis=0)
  rg = relation_generation(stated, tables)
  cs = content_selection(stated, wanted)
  exact = (
    *(rg.count, rg.precision, cs.precision, cs.recall, cs.f1),
    *(content_ordering(stated, wanted), bleu(tokens, truth).score),
  )
  return {
    name: {'mean': float(m), 'low': float(lo), 'high': float(hi)}
    for name, m, lo, hi in zip(COLUMNS, exact, low, high, strict=True)
  }


def strict(
  texts: Sequence[str],
  games: Sequence[Game],
  options: argparse.Namespace,
  places: Sequence[int],
) -> dict[str, Any]:
  """Scores of the ensemble as the public script has them, and mistakes."""
  known = read_outputs(options.references, read_games(options.source))
  row = next(
    iter(
      compare_systems(
        {'texts': Outputs('text', texts=tuple(texts))},
        games,
        references=known.only(places),
      )
    )
  )
  pairs = zip(texts, games, strict=True)
  mistakes = sum(len(check_text(text, game)) for text, game in pairs)
  return {**row.to_dict(), 'mistakes': mistakes}


def _game_columns(
  stated: Sequence[Any],
  wanted: Sequence[Any],
  tables: Sequence[Any],
  tokens: Sequence[str],
  truth: Sequence[str],
) -> np.ndarray:
  """What sums over games give every score, one row a game."""
  metric, rows = BLEU(tokenize='none', force=True), []
  for said, reference, table, text, original in zip(
    stated, wanted, tables, tokens, truth, strict=True
  ):
    said_set, wanted_set = set(said), set(reference)
    score: Any = metric.corpus_score([text], [[original]])
    rows.append(
      [
        1,
        sum(relation in table for relation in said_set),
        len(said_set),
        len(said_set & wanted_set),
        len(wanted_set),
        content_ordering([said], [reference]),
        *(score.sys_len, score.ref_len, *score.counts, *score.totals),
      ]
    )
  return np.array(rows, float)


def _scores(sums: np.ndarray) -> list[float]:
  games, supported, said, shared, wanted, order, *parts = sums
  sys_len, ref_len, *grams = map(int, parts)
  score: Any = BLEU.compute_bleu(
    correct=grams[:4], total=grams[4:], sys_len=sys_len, ref_len=ref_len
  )
  return [
    supported / games,
    100 * supported / max(said, 1),
    100 * shared / max(said, 1),
    100 * shared / max(wanted, 1),
    200 * shared / max(said + wanted, 1),
    order / games,
    score.score,
  ]


def _choose(
  options: argparse.Namespace,
) -> tuple[list[int], list[Game], list[Plan]]:
  """A seeded sample of games, each with a plan that says something."""
  games = read_games(options.source)
  if options.plans:
    plans = list(read_outputs(options.plans, games).plans)
  else:
    plans = [oracle_plan(game) for game in games]
  plans = [known_entries(p, g) for p, g in zip(plans, games, strict=True)]
  usable = [i for i, plan in enumerate(plans) if plan and games[i].summary]
  chosen = random.Random(options.seed).sample(usable, len(usable))
  chosen = sorted(chosen[: options.games])
  if options.plans:
    plans = [fuller_plan(p, g) for p, g in zip(plans, games, strict=True)]
  return chosen, [games[i] for i in chosen], [plans[i] for i in chosen]


def _realizers(options: argparse.Namespace) -> list[Realizer]:
  realizers: list[Realizer] = [TemplateRealizer()]
  search = SearchConfig(options.beams, options.max_tokens, options.length_alpha)
  for folder in options.realizer:
    opened = open_realizer(folder, search=search, batch_size=options.batch)
    if opened.format.slots:
      realizers.append(opened)
      continue
    for confined in (True, False):
      name = (
        f'{Path(folder).name}, numerals {"confined" if confined else "free"}'
      )
      realizers.append(
        dataclasses.replace(opened, confine_numerals=confined, name=name)
      )
  return realizers


def _line(name: str, scores: dict[str, Any]) -> str:
  cells = (
    f'{column} {scores[column]["mean"]:.2f} ({scores[column]["low"]:.2f} to '
    f'{scores[column]["high"]:.2f})'
    for column in COLUMNS
  )
  return f'{name}: {", ".join(cells)}, {scores["seconds"]} s'


def _args(arguments: Sequence[str] | None) -> Sequence[str]:
  return sys.argv[1:] if arguments is None else arguments


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
  parser = argparse.ArgumentParser(description=__doc__)
  parser.add_argument('source', type=Path, help='games with summaries')
  parser.add_argument(
    '--realizer', action='append', default=[], help='learned, or a bundle'
  )
  parser.add_argument('--plans', type=Path, help='default: oracle plans')
  parser.add_argument('--games', type=int, default=80)
  parser.add_argument('--seed', type=int, default=0)
  parser.add_argument('--beams', type=int, default=4)
  parser.add_argument('--batch', type=int, default=16)
  parser.add_argument('--max-tokens', type=int, default=64)
  parser.add_argument(
    '--length-alpha', type=float, default=SearchConfig().length_alpha
  )
  parser.add_argument(
    '--references', type=Path, help='relations for strict scores'
  )
  parser.add_argument('--json', type=Path, help='write all numbers')
  return parser.parse_args(_args(arguments))


if __name__ == '__main__':
  main()
