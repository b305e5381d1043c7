"""Inputs of jobs, and a file system that is not the local one."""

import json
from pathlib import Path

from apache_beam.io.localfilesystem import LocalFileSystem

SCHEME = 'elsewhere://'


def write_input(path, count=11, *, bad=True):
  """Articles with summaries; a blank line, one of no JSON, one of no text."""
  rows = []
  for number in range(count):
    units = [
      f'On day {number} the {place} saw {what} for {number + hour} hours.'
      for hour, (place, what) in enumerate(
        (p, w)
        for p in ('harbour', 'old market', 'school')
        for w in ('rain', 'fog')
      )
    ]
    row = {
      'id': f'day-{number}',
      'article': units,
      'highlights': units[number % 4 : number % 4 + 2],
    }
    rows.append(json.dumps(row))
  if bad:
    rows[2] = '{"article": '
    rows[5] = '{"article": "  "}'
    rows.insert(4, '')
  path.write_text('\n'.join(rows) + '\n')
  return path


class Elsewhere(LocalFileSystem):
  """Names of local files that nothing but Beam understands.

  Beam finds the file systems that there are by their class.
  """

  @classmethod
  def scheme(cls):
    return SCHEME.removesuffix('://')

  def join(self, basepath, *paths):
    return '/'.join([basepath.rstrip('/'), *paths])

  def split(self, path):
    head, _, tail = path.rpartition('/')
    return head, tail

  def exists(self, path):
    return super().exists(_local(path))

  def _url_dirname(self, url_or_path):
    return url_or_path.rpartition('/')[0]

  def _list(self, dir_or_prefix):
    for found in super()._list(_local(dir_or_prefix)):
      yield type(found)(
        SCHEME + found.path,
        found.size_in_bytes,
        found.last_updated_in_seconds,
      )

  def metadata(self, path):
    found = super().metadata(_local(path))
    return type(found)(path, found.size_in_bytes, found.last_updated_in_seconds)

  def create(self, path, *args, **kwargs):
    return super().create(_local(path), *args, **kwargs)

  def open(self, path, *args, **kwargs):
    return super().open(_local(path), *args, **kwargs)

  def rename(self, source_file_names, destination_file_names):
    super().rename(
      [*map(_local, source_file_names)], [*map(_local, destination_file_names)]
    )

  def delete(self, paths):
    for path in paths:
      Path(_local(path)).unlink()


def _local(path):
  return path.removeprefix(SCHEME)


def joined(folder, pattern):
  """The files of an output, one after another."""
  return ''.join(path.read_text() for path in sorted(folder.glob(pattern)))
