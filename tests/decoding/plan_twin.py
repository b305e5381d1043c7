"""An independent twin of beam search: one document, sets, loops and numpy.

`good` says from scratch whether a whole plan is permitted. The plans a search
may return are those whose every prefix is good and which either stopped or
cannot be continued by any unit.
"""

import dataclasses
import itertools
from collections.abc import Callable, Iterator

import numpy as np

Plan = tuple[int, ...]


@dataclasses.dataclass
class Problem:
  logits: Callable[[Plan], np.ndarray]
  units: frozenset[int]  # may be chosen, the stop not included
  candidates: frozenset[int]  # share the softmax
  max_units: int
  min_units: int = 1
  stop: int | None = None
  alpha: float = 0.0
  start: Plan = ()
  once: frozenset[int] = frozenset()
  overlapping: frozenset[tuple[int, int]] = frozenset()
  words: tuple[int, ...] | None = None
  limit: int = 0
  required: frozenset[int] = frozenset()
  excluded: frozenset[int] = frozenset()

  def log_probs(self, plan: Plan) -> dict[int, float]:
    logits = self.logits(plan)
    top = max(logits[unit] for unit in self.candidates)
    norm = sum(np.exp(logits[unit] - top) for unit in self.candidates)
    return {u: logits[u] - top - np.log(norm) for u in self.candidates}

  def missing(self, plan: Plan) -> frozenset[int]:
    return self.required - set(plan)

  def good(self, plan: Plan) -> bool:
    new = range(len(self.start), len(plan))
    return (
      len(plan) + len(self.missing(plan)) <= self.max_units
      and not self.excluded & {plan[i] for i in new}
      and all(self._good_place(plan, i) for i in new)
      and (self.words is None or self._good_words(plan))
    )

  def _good_place(self, plan: Plan, i: int) -> bool:
    unit, before = plan[i], plan[:i]
    newly_required = unit in self.required and unit not in before
    return not (unit in self.once and unit in before) and (
      newly_required or not self._shares(unit, {*before, *self.required})
    )

  def _shares(self, unit: int, others: set[int]) -> bool:
    return any((unit, other) in self.overlapping for other in others)

  def _good_words(self, plan: Plan) -> bool:
    assert self.words is not None
    total = sum(self.words[u] for u in [*plan, *self.missing(plan)])
    return total <= self.limit

  def continuations(self, plan: Plan) -> list[Plan]:
    longer = [(*plan, unit) for unit in sorted(self.units)]
    return [plan for plan in longer if self.good(plan)]

  def may_stop(self, plan: Plan) -> bool:
    return (
      self.stop in self.candidates
      and len(plan) >= self.min_units
      and not self.missing(plan)
    )

  def score(self, plan: Plan, stopped: bool) -> float:
    decisions = [*plan[len(self.start) :], *([self.stop] if stopped else [])]
    terms = [
      self.log_probs(plan[:position])[unit]
      for position, unit in enumerate(decisions, start=len(self.start))
    ]
    return sum(terms) / max(len(terms), 1) ** self.alpha

  def good_plans(self) -> Iterator[Plan]:
    for size in range(self.max_units - len(self.start) + 1):
      for tail in itertools.product(sorted(self.units), repeat=size):
        prefixes = [(*self.start, *tail[:i]) for i in range(1, size + 1)]
        if all(self.good(prefix) for prefix in prefixes):
          yield (*self.start, *tail)

  def all_results(self) -> dict[tuple[Plan, bool], float]:
    """Score of every (plan, stopped) an exhaustive search returns."""
    results = {}
    for plan in self.good_plans():
      stuck = not self.continuations(plan)
      if stuck or self.may_stop(plan):
        results[plan, not stuck] = self.score(plan, stopped=not stuck)
    return results


def greedy(problem: Problem) -> tuple[Plan, bool]:
  """The best choice at every step; returns the plan and whether it stopped."""
  plan = problem.start
  while longer := problem.continuations(plan):
    log_probs = problem.log_probs(plan)
    options = {longer_plan[-1]: longer_plan for longer_plan in longer}
    if problem.may_stop(plan):
      options[problem.stop] = None
    best = max(sorted(options), key=log_probs.__getitem__)
    if options[best] is None:
      return plan, True
    plan = options[best]
  return plan, False


def beam(problem: Problem, size: int) -> list[tuple[Plan, bool]]:
  """Beam search with a list: ended and growing plans share `size` places."""
  pool = [(problem.start, False, False)]  # plan, stopped, ended
  while not all(ended for _, _, ended in pool):
    options = []
    for plan, stopped, ended in pool:
      longer = [] if ended else problem.continuations(plan)
      options += [(plan, False, False) for plan in longer]
      if not longer:
        options.append((plan, stopped, True))
      elif problem.may_stop(plan):
        options.append((plan, True, True))
    options.sort(key=lambda option: -problem.score(option[0], option[1]))
    pool = options[:size]
  return [(plan, stopped) for plan, stopped, _ in pool]
