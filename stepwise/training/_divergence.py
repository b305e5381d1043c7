"""Stopping a run whose loss has left the finite, with the batch to blame."""

import math
import os
from pathlib import Path

import numpy as np

from stepwise.training._state import StepMetrics


class DivergenceError(RuntimeError):
  """Training stopped: the loss is not finite, or above its limit."""


def check_finite(
  step: int,
  metrics: StepMetrics,
  arrays: dict[str, np.ndarray],
  *,
  max_loss: float,
  output: Path,
) -> None:
  """Raises a `DivergenceError` if an update went wrong.

  The batch is written to `diverged_STEP.npz`, under the names of its arrays;
  with the newest checkpoint before the step it can be replayed.
  """
  loss, norm = float(metrics.loss), float(metrics.gradient_norm)
  if math.isfinite(loss) and math.isfinite(norm) and loss <= max_loss:
    return
  path = output / f'diverged_{step}.npz'
  beside = output / f'diverged_{step}.new.npz'
  np.savez_compressed(beside, step=step, **arrays)  # pyright: ignore
  os.replace(beside, path)
  raise DivergenceError(
    f'training diverged at step {step}: the loss is {loss:g} (limit'
    f' {max_loss:g}), the gradient norm {norm:g}; the batch is in {path}.'
  )
