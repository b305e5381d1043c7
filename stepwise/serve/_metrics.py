"""What the server counts, as Prometheus reads it."""

from collections.abc import Callable

from prometheus_client import (
  CollectorRegistry,
  Counter,
  Gauge,
  Histogram,
  generate_latest,
)

_SECONDS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
_SIZES = (1, 2, 4, 8, 16, 32)


class Metrics:
  """Of one server; two in a process do not mix."""

  def __init__(self) -> None:
    registry = self._registry = CollectorRegistry()
    self.requests = Counter(
      *('stepwise_requests', 'Requests that were answered.'),
      labelnames=('path', 'status'),
      registry=registry,
    )
    self.seconds = Histogram(
      *('stepwise_request_seconds', 'From request to answer.'),
      labelnames=('path',),
      buckets=_SECONDS,
      registry=registry,
    )
    self.batches = Histogram(
      *('stepwise_batch_documents', 'Texts and tables done together.'),
      buckets=_SIZES,
      registry=registry,
    )
    self.cancelled = Counter(
      *('stepwise_cancelled', 'Texts and tables nobody waited for any more.'),
      registry=registry,
    )

  def watch(self, name: str, what: str, value: Callable[[], float]) -> None:
    """A number that is asked for when it is read."""
    Gauge(name, what, registry=self._registry).set_function(value)

  def text(self) -> bytes:
    return generate_latest(self._registry)
