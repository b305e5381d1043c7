"""Foreign checkpoints for tests: fixtures, and writers of our weights."""

import json
from pathlib import Path

import numpy as np
from flax import traverse_util
from safetensors.numpy import save_file

from stepwise.checkpoints._initial import config_shapes

TESTDATA = Path(__file__).parent.parent / 'testdata'
HUGGINGFACE = TESTDATA / 'huggingface'
BERT_VOCABULARY = (
  Path(__file__).parents[2] / 'stepwise/data/vocab/bert_uncased.txt'
)

# By hand and not from the package: the tests' own idea of the names.
_MODULES = {
  'embeddings/token': 'embeddings.word_embeddings',
  'embeddings/position': 'embeddings.position_embeddings',
  'embeddings/token_type': 'embeddings.token_type_embeddings',
  'embeddings/norm': 'embeddings.LayerNorm',
  'self_attention/query': 'attention.self.query',
  'self_attention/key': 'attention.self.key',
  'self_attention/value': 'attention.self.value',
  'self_attention/output': 'attention.output.dense',
  'self_norm': 'attention.output.LayerNorm',
  'feed_forward/in': 'intermediate.dense',
  'feed_forward/out': 'output.dense',
  'feed_norm': 'output.LayerNorm',
}


def flat(params) -> dict[str, np.ndarray]:
  leaves = traverse_util.flatten_dict(params, sep='/')
  return {path: np.asarray(leaf) for path, leaf in leaves.items()}


def unflat(weights) -> dict:
  return traverse_util.unflatten_dict(weights, sep='/')


def random_params(config, seed: int = 1) -> dict:
  """The tree of `initial_params` with other values, and without a compiler."""
  random = np.random.default_rng(seed)
  return unflat(
    {
      path: random.normal(size=shape).astype(np.float32)
      for path, shape in config_shapes(config).items()
    }
  )


def write_bert(folder: Path, config, params) -> Path:
  """A Hugging Face folder of an encoder of ours, vocabulary included."""
  folder.mkdir()
  weights = {
    _their_name(path): np.ascontiguousarray(_their_array(path, array))
    for path, array in flat(params).items()
  }
  save_file(weights, folder / 'model.safetensors')
  values = {
    'model_type': 'bert',
    'vocab_size': config.vocab,
    'hidden_size': config.embed,
    'num_attention_heads': config.heads,
    'intermediate_size': config.mlp,
    'num_hidden_layers': config.layers,
    'max_position_embeddings': config.positions,
    'type_vocab_size': config.token_types,
    'layer_norm_eps': config.norm_epsilon,
  }
  (folder / 'config.json').write_text(json.dumps(values))
  (folder / 'vocab.txt').write_bytes(BERT_VOCABULARY.read_bytes())
  return folder


def save_tensorflow(prefix: Path, variables) -> Path:
  """A TensorFlow checkpoint with exactly these names."""
  import tensorflow as tf

  tf.raw_ops.SaveV2(
    prefix=str(prefix),
    tensor_names=list(variables),
    shape_and_slices=[''] * len(variables),
    tensors=[tf.constant(value) for value in variables.values()],
  )
  return prefix


def _their_name(path: str) -> str:
  module, leaf = path.rsplit('/', 1)
  suffix = 'bias' if leaf == 'bias' else 'weight'
  if module.startswith('stack/layers_'):
    layer, module = module.removeprefix('stack/layers_').split('/', 1)
    return f'encoder.layer.{layer}.{_MODULES[module]}.{suffix}'
  return f'{_MODULES[module]}.{suffix}'


def _their_array(path: str, array: np.ndarray) -> np.ndarray:
  if path.endswith('output/kernel'):
    return array.reshape(-1, array.shape[-1]).T
  if path.endswith('kernel'):
    return array.reshape(array.shape[0], -1).T
  return array if path.endswith('embedding') else array.reshape(-1)
