"""A pipeline of one's own on Apache Beam: what does an archive talk about?

Summaries of all documents are written to files, and the words of the summaries
are counted on the way. Bad lines go to an output of their own. Needs
`pip install 'stepwise[beam]'`. Name another runner and paths such as
`gs://archive/news-*.jsonl`, and it runs on many machines.
"""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import apache_beam as beam

from stepwise.beam import (
  BadLines,
  Made,
  ReadDocuments,
  Summarize,
  WriteParts,
  make_options,
)
from stepwise.summarization import SummaryOptions

ARTICLES = [
  'The ferry to the island is back. Engineers repaired its engine in a week. '
  'The ferry sails every hour from Monday. Tickets cost as much as before.',
  'A storm closed the harbour on Sunday. Two boats broke loose in the storm. '
  'Nobody was hurt. The harbour opens when the wind drops.',
  'The island votes on a bridge in May. A bridge would replace the ferry. '
  'The council fears what a bridge costs. Shops hope for visitors.',
]


def words_of(made: Made) -> Iterator[str]:
  """Long words of all summaries of a part."""
  for line in made.lines:
    for sentence in json.loads(line).get('summary', []):
      yield from (w.strip('.').lower() for w in sentence.split() if len(w) > 4)


def main(folder: Path) -> None:
  source = folder / 'archive.jsonl'
  rows = [{'id': f'n{i}', 'article': a} for i, a in enumerate(ARTICLES)]
  lines = [json.dumps(row) for row in rows]
  source.write_text('\n'.join([*lines, 'no JSON']) + '\n', encoding='utf-8')

  with beam.Pipeline(options=make_options('DirectRunner')) as pipeline:
    documents = pipeline | ReadDocuments(str(source), size=2)
    # `default` is the packaged model; a worker loads it once.
    made = documents | Summarize('lexrank', SummaryOptions(sentences=2))
    _ = made | WriteParts(str(folder / 'summaries'))
    _ = (
      made
      | 'Words' >> beam.FlatMap(words_of)
      | beam.combiners.Count.PerElement()
      | beam.combiners.Top.Of(3, key=lambda pair: (pair[1], pair[0]))
      | 'Show words' >> beam.Map(print)
    )
    _ = documents | BadLines() | 'Show bad lines' >> beam.Map(print)

  for path in sorted((folder / 'summaries').glob('*.jsonl')):
    print(path.name, path.read_text(encoding='utf-8'), sep='\n')


if __name__ == '__main__':
  with tempfile.TemporaryDirectory() as scratch:
    main(Path(scratch))
