"""Whole jobs: files in, numbered files out; what was finished is kept.

Parts are written to the folder `TARGET.parts`, each whole or not at all, and
get their names when all are there. A job that is started again finds the parts
that are finished.
"""

import contextlib
import json
import tempfile
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import apache_beam as beam
from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import (
  GoogleCloudOptions,
  PipelineOptions,
)

from stepwise import __version__
from stepwise._errors import InputError
from stepwise._files import check_parent, locked
from stepwise.beam._made import split_name
from stepwise.beam._options import run_pipeline, runs_here
from stepwise.beam._parts import (
  PART_SIZE,
  Part,
  find_sources,
  split_file,
  split_sources,
)
from stepwise.beam._scores import (
  Baseline,
  Measuring,
  ScoreRouge,
  Scores,
  check_scores,
  load_scores,
  save_scores,
)
from stepwise.beam._storage import (
  FoundFile,
  absolute,
  delete_folder,
  find_files,
  is_local,
  read_all_json,
  read_json,
  rename_all,
  write_json,
  write_whole,
)
from stepwise.beam._transforms import FindParts, WriteParts


@dataclass(frozen=True)
class JobReport:
  """What became of the input.

  Attributes:
    outputs: files that were written, in order.
    lines: that they have together.
    bad: lines of the input that nothing was made of.
    errors: the file that lists these, if there are any.
    counts: of the transform's own.
    kept: parts that an earlier, unfinished job had made.
  """

  outputs: list[str]
  lines: int
  bad: int
  errors: str
  counts: dict[str, int]
  kept: int


def run_job(
  source: str,
  target: str,
  transform: beam.PTransform,
  options: PipelineOptions,
  *,
  made_by: dict[str, Any],
  part_size: int = PART_SIZE,
  whole_files: bool = False,
) -> JobReport:
  """Writes what a transform makes of some files.

  Files of the output are `TARGET-00000-of-00004.jsonl` and so on: one after
  another they are what the command line writes. Bad lines are listed in
  `TARGET.errors.jsonl` with file and line.

  Args:
    source: see `FindParts`.
    target: a path of any file system; its ending is the format.
    transform: from parts to `Made`, such as `ReadParts() | BuildOracles()`.
    options: of the pipeline, see `make_options`.
    made_by: tells the transform from others, in values that JSON has; parts of
      two do not mix.
    part_size: documents of a part, and of a file of the output.
    whole_files: every file is one thing, such as a table.
  """
  source, target = absolute(source), absolute(target)
  split_name(target)
  with _alone(target):
    files = find_sources(source)
    about = {**made_by, 'part_size': part_size}
    folder = f'{target}.parts'
    _check(folder, files, about)
    parts = plan_parts(
      files, part_size, folder, options, whole_files=whole_files
    )
    if not parts:
      delete_folder(folder)
      raise InputError(f'{source}: empty; at least one document is needed.')
    return _run(parts, target, transform, options)


@contextlib.contextmanager
def _alone(target: str) -> Iterator[None]:
  """Holds a lock where there are any."""
  if is_local(target):
    check_parent(Path(target))
    with locked(Path(target)):
      yield
  else:
    yield


def _run(
  parts: Sequence[Part],
  target: str,
  transform: beam.PTransform,
  options: PipelineOptions,
) -> JobReport:
  stem, ending = split_name(target)
  folder = f'{target}.parts'
  left = _unfinished(folder, parts)
  if left:
    pipeline = beam.Pipeline(options=options)
    _ = (
      pipeline
      | FindParts(left)
      # A worker that died may have made it already.
      | beam.Filter(_is_unfinished, folder)
      | transform
      | WriteParts(folder, ending)
    )
    run_pipeline(pipeline)
  made = read_all_json(f'{folder}/{part.name}.json' for part in parts)
  _check_errors(folder, parts, made)
  outputs = [
    f'{stem}-{number:05}-of-{len(parts):05}{ending}'
    for number in range(len(parts))
  ]
  errors = _write_errors(f'{target}.errors.jsonl', made)
  rename_all([f'{folder}/{part.name}{ending}' for part in parts], outputs)
  _delete_others(stem, ending, outputs)
  delete_folder(folder)
  return JobReport(
    outputs,
    sum(each['lines'] for each in made),
    sum(len(each['bad']) for each in made),
    errors,
    _add_up([each['counts'] for each in made]),
    len(parts) - len(left),
  )


def _add_up(counts: Sequence[Mapping[str, int]]) -> dict[str, int]:
  total: Counter[str] = Counter()
  for each in counts:
    total.update(each)
  return dict(total)


def plan_parts(
  files: Sequence[FoundFile],
  size: int,
  folder: str,
  options: PipelineOptions,
  *,
  whole_files: bool = False,
) -> list[Part]:
  """All parts of some files, in order; workers read the files for it."""
  path = f'{folder}/parts.json'
  if not FileSystems.exists(path):
    whole, others = split_sources(files, size, whole_files=whole_files)
    if runs_here(options):
      for file in others:
        _write_split(file, size, folder)
    elif others:
      pipeline = beam.Pipeline(options=options)
      split = beam.Map(_write_split, size, folder)
      _ = pipeline | beam.Create(others) | split
      run_pipeline(pipeline)
    found = read_all_json(_split_path(folder, file) for file in others)
    for each in found:
      if each['error']:
        delete_folder(folder)
        raise InputError(each['error'])
    split = [part for each in found for part in each['parts']]
    parts = sorted([*map(asdict, whole), *split], key=lambda part: part['name'])
    write_json(path, parts)
  return [
    Part(**{**part, 'files': tuple(part['files'])}) for part in read_json(path)
  ]


def _write_split(file: Part, size: int, folder: str) -> str:
  try:
    content = {'parts': [asdict(p) for p in split_file(file, size)]}
    error = ''
  except InputError as mistake:
    content, error = {'parts': []}, str(mistake)
  path = _split_path(folder, file)
  write_json(path, content | {'error': error})
  return path


def _split_path(folder: str, file: Part) -> str:
  return f'{folder}/split-{file.name}.json'


def _check(
  folder: str, files: Sequence[FoundFile], made_by: dict[str, Any]
) -> None:
  """Refuses to continue what was made from something else."""
  made_from = {
    'input': [asdict(file) for file in files],
    **made_by,
    'version': __version__,
  }
  made_from = json.loads(json.dumps(made_from))
  path = f'{folder}/about.json'
  if not FileSystems.exists(path):
    write_json(path, made_from)
    return
  before = read_json(path)
  changed = [key for key in made_from if before.get(key) != made_from[key]]
  if changed:
    raise InputError(
      f'{folder} was begun with another {" and ".join(changed)}: repeat that '
      'command to finish it, or delete the folder to start again.'
    )


def _unfinished(folder: str, parts: Sequence[Part]) -> list[Part]:
  done = {file.path.rpartition('/')[2] for file in find_files(f'{folder}/*')}
  return [part for part in parts if f'{part.name}.json' not in done]


def _is_unfinished(part: Part, folder: str) -> bool:
  return not FileSystems.exists(f'{folder}/{part.name}.json')


def _check_errors(
  folder: str, parts: Sequence[Part], made: Sequence[dict[str, Any]]
) -> None:
  failed = [
    (part, each['error'])
    for part, each in zip(parts, made, strict=True)
    if each['error']
  ]
  if failed:
    # They are made again, once the mistake is mended.
    FileSystems.delete([f'{folder}/{part.name}.json' for part, _ in failed])
    raise InputError(failed[0][1])


def _write_errors(path: str, made: Sequence[dict[str, Any]]) -> str:
  """Lists the bad lines; without any, no list of an earlier run stays."""
  bad = [line for each in made for line in each['bad']]
  if not bad:
    if FileSystems.exists(path):
      FileSystems.delete([path])
    return ''
  rows = (
    {'file': line['path'], 'line': line['line'], 'error': line['message']}
    for line in bad
  )
  text = ''.join(f'{json.dumps(row, ensure_ascii=False)}\n' for row in rows)
  write_whole(path, text.encode())
  return path


def _delete_others(stem: str, ending: str, outputs: Sequence[str]) -> None:
  """Files of an earlier output of another number of files."""
  found = find_files(f'{stem}-?????-of-?????{ending}')
  names = {output.rpartition('/')[2] for output in outputs}
  old = [
    file.path for file in found if file.path.rpartition('/')[2] not in names
  ]
  if old:
    FileSystems.delete(old)


def score_job(
  references: str,
  predictions: Mapping[str, str],
  options: PipelineOptions,
  *,
  measuring: Measuring = Measuring(),
  baselines: Mapping[str, Baseline] | None = None,
  part_size: int = PART_SIZE,
) -> Scores:
  """Measures systems on a runner; the scores come back to this process.

  They pass through a folder that workers and this process see: that of Beam's
  option `--temp_location`, or a temporary one of this machine.

  Args:
    references: files of documents with summaries and ids.
    predictions: files of every system, by its name.
    options: of the pipeline, see `make_options`.
    measuring: how.
    baselines: systems that choose from the documents of the references.
    part_size: documents that a worker reads at a time.
  """
  shared = options.view_as(GoogleCloudOptions).temp_location
  with tempfile.TemporaryDirectory(prefix='stepwise-') as local:
    folder = f'{absolute(shared or local)}/scores-{uuid.uuid4().hex}'
    try:
      return _score(
        {'references': references, **predictions},
        folder,
        ScoreRouge(measuring, baselines),
        options,
        part_size,
      )
    finally:
      delete_folder(folder)


def _score(
  sources: Mapping[str, str],
  folder: str,
  transform: ScoreRouge,
  options: PipelineOptions,
  part_size: int,
) -> Scores:
  parts = {
    name: plan_parts(
      find_sources(absolute(source)), part_size, f'{folder}/{number}', options
    )
    for number, (name, source) in enumerate(sources.items())
  }
  pipeline = beam.Pipeline(options=options)
  found = {
    name: pipeline | f'Find {number}' >> FindParts(of_one)
    for number, (name, of_one) in enumerate(parts.items())
  }
  path = f'{folder}/scores.npz'
  save = beam.Map(save_scores, path)
  _ = found | transform | save
  run_pipeline(pipeline)
  scores = load_scores(path)
  check_scores(scores)
  return scores
