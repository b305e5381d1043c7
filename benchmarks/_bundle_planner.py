"""Makes the planner that is shipped: float16, rows of unseen tokens zero.

  python benchmarks/_bundle_planner.py RUN/bundle train.jsonl OUT CARD.md

Most of the small planner is its token table, and most rows of that no table of
a game ever uses: zeros compress to nothing in a wheel.
"""

import argparse
from pathlib import Path

import numpy as np

from stepwise.checkpoints import load_bundle, save_bundle
from stepwise.data import load_records


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__)
  for name in ('bundle', 'records', 'output', 'card'):
    parser.add_argument(name, type=Path)
  given = parser.parse_args()
  loaded = load_bundle(given.bundle)
  params = loaded.variables['params']
  table = params['tokens']['embeddings']['token']
  used = np.zeros(len(table['embedding']), bool)
  used[loaded.config.first_token] = True
  for record, _ in load_records(given.records):
    used[record.tokens] = True
  table['embedding'] = np.where(used[:, None], table['embedding'], 0)
  save_bundle(
    given.output,
    loaded.config,
    params,
    card=given.card.read_text(encoding='utf-8'),
    dtype='float16',
  )
  print(f'{given.output}: {used.sum()} of {len(used)} tokens are used')


if __name__ == '__main__':
  main()
