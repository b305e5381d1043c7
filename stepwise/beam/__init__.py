"""Bulk work on Apache Beam: many machines, the results of one.

The unit of work is a part: consecutive documents of the input, which a worker
reads where they are, and which become one file of the output. Collections of
all transforms have parts as elements:

    with beam.Pipeline(options=make_options('DirectRunner')) as pipeline:
      documents = pipeline | ReadDocuments('news-*.jsonl')
      documents | Summarize('default') | WriteParts('summaries')

`run_job` adds what a job of hours needs: numbered files that appear when all
are whole, and finished parts that are kept when it is started again. It is what
`stepwise oracle`, `infer` and `data build` do with `--runner`; `score_job` is
that of `stepwise evaluate`.
"""

from stepwise._extras import needs

with needs('beam', 'stepwise.beam'):
  import apache_beam  # noqa: F401

from stepwise.beam._jobs import JobReport, run_job, score_job
from stepwise.beam._made import Made
from stepwise.beam._models import PlanTables, Summarize, load_model
from stepwise.beam._options import RUNNERS, make_options
from stepwise.beam._parts import PART_SIZE, Documents, Line, Part
from stepwise.beam._scores import (
  Measuring,
  ScoreRouge,
  Scores,
  report_scores,
  take_scores,
)
from stepwise.beam._transforms import (
  BadLines,
  BuildOracles,
  BuildRecords,
  FindParts,
  ReadDocuments,
  ReadParts,
  WriteParts,
)

__all__ = [
  'PART_SIZE',
  'RUNNERS',
  'BadLines',
  'BuildOracles',
  'BuildRecords',
  'Documents',
  'FindParts',
  'JobReport',
  'Line',
  'Made',
  'Measuring',
  'Part',
  'PlanTables',
  'ReadDocuments',
  'ReadParts',
  'ScoreRouge',
  'Scores',
  'Summarize',
  'WriteParts',
  'load_model',
  'make_options',
  'report_scores',
  'run_job',
  'score_job',
  'take_scores',
]
