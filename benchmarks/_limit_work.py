"""The work that `limit` measures, for this checkout and for older ones.

As a program, with the checkout on PYTHONPATH: `_limit_work.py update
hibert_news`, `infer BUNDLE FILE`, `plan GAMES`, `cold` or `warm` (the
process of `stepwise summarize`). Answers every line of its standard input with
a line of JSON: seconds on the clock and of all cores.
"""

import functools
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn

from stepwise import models

ROWS, LENGTH, UNITS, STEPS = 8, 512, 32, 4
# As gin/default has them.
FROZEN = {
  'hibert_news': (
    'encoder/sentence/embeddings',
    'encoder/sentence/stack/layers_0',
    'encoder/sentence/stack/layers_1',
  ),
  'etcsum_news': (
    'encoder/embeddings',
    'encoder/stack/layer_0',
    'encoder/stack/layer_1',
  ),
}


def resolve(name: str, products: str) -> tuple[Any, nn.Module]:
  """A configuration and its module; older checkouts have float32 only."""
  config: Any = models.find_config(name)
  if not hasattr(config, 'build'):
    return config, models.build_model(config)  # pyright: ignore
  from stepwise.layers import choose_products, with_products

  config = with_products(config, choose_products(products))
  # No unit of the documents here is longer.
  return config, config.build_for(LENGTH // UNITS + 1)


def make_batch(name: str) -> Any:
  """Documents of random tokens: the work does not depend on what they say."""
  random = np.random.default_rng(0)
  units = np.broadcast_to(np.arange(LENGTH) * UNITS // LENGTH, (ROWS, LENGTH))
  plans = np.stack([2 + random.permutation(UNITS - 2) for _ in range(ROWS)])
  # A model that reads everything anew at every step learns one of them.
  one = name.startswith('etcsum')
  plan = plans[:, :1] if one else np.full((ROWS, STEPS), -1)
  targets = plans[:, 1:2] if one else plans[:, :STEPS]
  room = np.full((ROWS, 2), -1) if one else plan[:, :0]
  plan = np.concatenate([plan, room], axis=1)
  return models.Batch(
    jnp.asarray(random.integers(1000, 30000, (ROWS, LENGTH)), jnp.int32),
    jnp.asarray(units, jnp.int32),
    jnp.ones((ROWS, UNITS), bool),
    jnp.asarray(plan, jnp.int32),
    jnp.asarray(targets, jnp.int32),
    jnp.asarray(random.random((*targets.shape, UNITS)), jnp.float32),
  )


def make_update(
  name: str, products: str
) -> tuple[Callable[..., Any], tuple[Any, ...], Any]:
  """The update of a named model, the state it changes, and its batch."""
  _, module = resolve(name, products)
  batch = make_batch(name)
  optimizer = optax.chain(
    optax.clip_by_global_norm(1.0),
    optax.scale_by_adam(b2=0.98),
    optax.scale_by_learning_rate(1e-4),
  )

  def loss(params: Any, batch: Any) -> Any:
    params = _freeze(params, FROZEN[name])
    return models.stepwise_loss(module, params, batch, never=(1,)).mean

  def update(params: Any, moments: Any, batch: Any) -> tuple[Any, Any, Any]:
    value, gradient = jax.value_and_grad(loss)(params, batch)
    changes, moments = optimizer.update(gradient, moments, params)
    return optax.apply_updates(params, changes), moments, value

  init = jax.jit(lambda: nn.unbox(module.init(jax.random.key(0), batch)))
  params = init()['params']
  return update, (params, optimizer.init(params)), batch


def _freeze(params: Any, prefixes: tuple[str, ...]) -> Any:
  def freeze(path: Any, leaf: Any) -> Any:
    joined = '/'.join(entry.key for entry in path)
    return jax.lax.stop_gradient(leaf) if joined.startswith(prefixes) else leaf

  return jax.tree_util.tree_map_with_path(freeze, params)


def repeated_update(name: str, products: str = 'auto') -> Callable[[], Any]:
  update, state, batch = make_update(name, products)
  compiled = jax.jit(update, donate_argnums=(0, 1))
  held = list(state)

  def run() -> None:
    *held[:], _ = compiled(*held, batch)
    jax.block_until_ready(held)

  return run


def repeated_inference(bundle: str, source: str) -> Callable[[], Any]:
  """`stepwise infer`, without the start of a process."""
  folder = tempfile.TemporaryDirectory()
  write = _writer(bundle, Path(source))

  def run() -> None:
    # Not outside: the folder lives as long as somebody knows it.
    target = Path(folder.name) / 'out.jsonl'
    target.unlink(missing_ok=True)
    write(target)

  return run


def _writer(bundle: str, source: Path) -> Callable[[Path], Any]:
  """Writes summaries, as this or an older checkout does."""
  try:
    from stepwise.summarization import load_summarizer, write_summaries
  except ImportError:
    return _older_writer(bundle, source)
  summarizer: Any = load_summarizer(bundle)
  return lambda target: write_summaries(
    source,
    target,
    summarizer,
    made_by={'model': 'limit'},
    batch_size=summarizer.config.batch_size,
  )


def _older_writer(bundle: str, source: Path) -> Callable[[Path], Any]:
  from stepwise.checkpoints import load_bundle
  from stepwise.inference import Predictor, inference_buckets

  try:
    from stepwise.inference import write_summaries  # pyright: ignore
  except ImportError:
    from stepwise.training import write_summaries  # pyright: ignore
  loaded: Any = load_bundle(Path(bundle))
  predictor = Predictor(
    loaded.config,
    loaded.variables['params'],
    loaded.decoding,
    inference_buckets(loaded.config),
  )
  return lambda target: write_summaries(
    source, target, predictor, loaded.tokenizer, fingerprint='limit'
  )


def repeated_planning(source: str) -> Callable[[], Any]:
  """Plans of all games by the package's planner, in a process that runs."""
  from stepwise.planning import bundled_planner
  from stepwise.rotowire import read_games

  planner, games = bundled_planner(), list(read_games(source))
  return lambda: planner(games)


def repeated_command(*, cold: bool) -> Callable[[], Any]:
  """`stepwise summarize` of a page of text, as a process."""
  from stepwise.summarization import sample_article

  folder = tempfile.TemporaryDirectory()
  source = Path(folder.name) / 'article.txt'
  source.write_text(sample_article(), encoding='utf-8')
  # A cache of JAX's own would be warm.
  outer = {
    k: v for k, v in os.environ.items() if k != 'JAX_COMPILATION_CACHE_DIR'
  }
  command = ('-m', 'stepwise.cli.main', 'summarize', str(source))
  turns = itertools.count()

  def run() -> None:
    cache = Path(folder.name) / (f'cache-{next(turns)}' if cold else 'cache')
    subprocess.run(
      [sys.executable, *command],
      env={**outer, 'JAX_PLATFORMS': 'cpu', 'STEPWISE_CACHE': str(cache)},
      capture_output=True,
      check=True,
    )

  return run


def timed(run: Callable[[], Any]) -> dict[str, float]:
  """Seconds on the clock, and of all cores, which other programs disturb
  less.
  """
  before, clock = os.times(), time.perf_counter()
  run()
  seconds, after = time.perf_counter() - clock, os.times()
  # All but the last, time on the clock: own time, and that of children.
  return {'seconds': seconds, 'core_seconds': sum(after[:4]) - sum(before[:4])}


def main(what: str, *arguments: str) -> None:
  try:
    from stepwise import _runtime

    _runtime.prepare()
  except ImportError:
    pass  # An older checkout.
  make = {
    'update': repeated_update,
    'infer': repeated_inference,
    'plan': repeated_planning,
    'cold': functools.partial(repeated_command, cold=True),
    'warm': functools.partial(repeated_command, cold=False),
  }[what]
  run = functools.partial(timed, make(*arguments))
  run()  # Compiles.
  print('ready', flush=True)
  for _ in sys.stdin:
    print(json.dumps(run()), flush=True)


if __name__ == '__main__':
  main(*sys.argv[1:])
