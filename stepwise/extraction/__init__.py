"""What texts about games say: extractors of relations, plans, scores.

`find_extractor` knows them by name: `lookup` is rules, pure Python; `conv` and
`ensemble` are learned, and `stepwise.extraction.learned` loads JAX for them.
"""

from stepwise.extraction._agreement import Agreement, evaluate_extractor
from stepwise.extraction._candidates import Candidate, find_candidates
from stepwise.extraction._comparison import (
  SystemRow,
  compare_systems,
  published_systems,
  systems_table,
)
from stepwise.extraction._evaluate import (
  ReadOutputs,
  RotowireScores,
  evaluate_outputs,
  read_relations,
)
from stepwise.extraction._extractors import (
  EXTRACTORS,
  Extractor,
  find_extractor,
)
from stepwise.extraction._lookup import Extraction, lookup_relations
from stepwise.extraction._mentions import (
  AnnotatedSentence,
  Mention,
  find_entity,
  read_sentences,
)
from stepwise.extraction._oracle import (
  Place,
  oracle_plan,
  placed_sentences,
  planned_sentences,
  stated_relations,
  stated_strings,
)
from stepwise.extraction._outputs import Outputs, parse_tuple, read_outputs
from stepwise.extraction._statistics import (
  PUBLISHED_ENTRIES,
  PUBLISHED_SENTENCES,
  PlanStatistics,
  plan_statistics,
)
from stepwise.extraction._strict import Matched, strict_counts, strict_scores
from stepwise.extraction._text import (
  Number,
  find_numbers,
  parse_number,
  sentence_tokens,
  tokenize,
)

__all__ = [
  'EXTRACTORS',
  'PUBLISHED_ENTRIES',
  'PUBLISHED_SENTENCES',
  'Agreement',
  'AnnotatedSentence',
  'Candidate',
  'Extraction',
  'Extractor',
  'Matched',
  'Mention',
  'Number',
  'Outputs',
  'Place',
  'PlanStatistics',
  'ReadOutputs',
  'RotowireScores',
  'SystemRow',
  'compare_systems',
  'evaluate_extractor',
  'evaluate_outputs',
  'find_candidates',
  'find_entity',
  'find_extractor',
  'find_numbers',
  'lookup_relations',
  'oracle_plan',
  'parse_number',
  'parse_tuple',
  'placed_sentences',
  'plan_statistics',
  'planned_sentences',
  'published_systems',
  'read_outputs',
  'read_relations',
  'read_sentences',
  'sentence_tokens',
  'stated_relations',
  'stated_strings',
  'strict_counts',
  'strict_scores',
  'systems_table',
  'tokenize',
]
