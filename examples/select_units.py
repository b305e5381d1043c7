"""A stepwise model from scratch: encode once, then search for a plan."""

import jax
from flax import linen as nn

from stepwise.data import make_record, pad_batch, wordpiece
from stepwise.documents import make_document
from stepwise.inference import decode
from stepwise.models import Batch, find_config
from stepwise.summarization import sample_article

document = make_document({'article': sample_article()})
record = make_record(document, wordpiece())
batch = Batch.of(pad_batch([record], length=640, units=32, steps=4, batch=1))

# Untrained weights: the plan is random, the machinery is not.
model = find_config('hibert_tiny')
variables = nn.unbox(model.build().init(jax.random.key(0), batch))
result = jax.jit(lambda v, b: decode(model, v, b))(variables, batch)

steps = zip(result.plans[0, 0], result.log_probs[0, 0], strict=True)
for unit, log_prob in steps:
  if unit >= 0:
    start, end = record.spans[unit]
    print(f'{log_prob:6.2f}  {document.text[start:end]}')
