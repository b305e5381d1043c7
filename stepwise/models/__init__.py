"""The systems of the paper, one file each, and the registry of them all."""

from stepwise.models._batch import Batch
from stepwise.models._etcsum import ETCSum, ETCSumConfig, assemble

__all__ = ['Batch', 'ETCSum', 'ETCSumConfig', 'assemble']
