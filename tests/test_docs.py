"""Pages for people: links lead somewhere, code runs, numbers are measured."""

import contextlib

import pytest

import stepwise
from docs import blocks, results

PAGES = blocks.markdown_files()
BLOCKS = {
  page: blocks.read_blocks(page.read_text(encoding='utf-8')) for page in PAGES
}


def is_card(page):
  """Cards load models."""
  return page.is_relative_to(blocks.ROOT / 'stepwise')


def pages_with(language, *, slow):
  """Pages with blocks to run; one slow block makes its page slow."""
  for page, found in BLOCKS.items():
    chosen = [b for b in found if b.language == language]
    chosen = [b for b in chosen if 'not run' not in b.marks]
    if language == 'console':
      chosen = [block for block in chosen if block.slow == slow]
    elif slow != (is_card(page) or any(block.slow for block in chosen)):
      continue
    if chosen:
      name = str(page.relative_to(blocks.ROOT))
      marks = [pytest.mark.slow] if slow else []
      yield pytest.param(page, chosen, id=name, marks=marks)


def pages_to_run(language):
  return [
    *pages_with(language, slow=False),
    *pages_with(language, slow=True),
  ]


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
  folder = tmp_path_factory.mktemp('reader')
  blocks.prepare_folder(folder)
  return folder


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.parent.name)
def test_links_lead_to_files_and_headings(page):
  assert blocks.broken_links(page) == []


def test_commands_for_people_with_data_exist():
  wrong = {
    f'{page.name}:{block.lines[0]}': found
    for page, page_blocks in BLOCKS.items()
    for block in page_blocks
    if block.language == 'sh'
    for found in [blocks.wrong_commands(block.code)]
    if found
  }
  assert wrong == {}


def test_blocks_of_data_can_be_read():
  for page_blocks in BLOCKS.values():
    for block in page_blocks:
      if block.language in ('json', 'toml'):
        blocks.read_data(block)


@pytest.mark.parametrize(('page', 'chosen'), pages_to_run('python'))
def test_python_of_a_page_runs(page, chosen, folder):
  with contextlib.chdir(folder):
    blocks.run_python(chosen, page)


@pytest.mark.parametrize(('page', 'chosen'), pages_to_run('console'))
def test_commands_print_what_the_page_says(page, chosen, folder):
  for block in chosen:
    for command, shown in blocks.sessions(block.code):
      with contextlib.chdir(folder):
        printed = blocks.run_command(command)
      assert blocks.same_output(shown, printed), (
        f'{command} printed\n{printed}\n`python -m docs.blocks {page}` takes it'
      )


def test_tables_are_those_of_their_measurements():
  for page in PAGES:
    text = page.read_text(encoding='utf-8')
    assert results.fill(text) == text, f'{page}: make results'


@pytest.mark.parametrize(
  ('command', 'message'),
  [
    ('stepwise sumarize a.txt', 'no verb sumarize'),
    ('stepwise data bild', 'no verb bild'),
    ('stepwise summarize a.txt --wrods 3', 'No such option: --wrods'),
    ('stepwise bench speed', 'no benchmark speed'),
    ('cat x | stepwise train a --gin gin/no.gin', 'no gin/no.gin'),
    ("pip install 'stepwise[sever]'", 'no extra sever'),
    ('make tests', 'no target tests'),
    ('python -m docs.pages', 'no module docs.pages'),
  ],
)
def test_wrong_commands_are_found(command, message):
  (found,) = blocks.wrong_commands(command)
  assert message in found


def test_broken_links_are_found(tmp_path):
  page = tmp_path / 'page.md'
  page.write_text('# A b\n[x](no.md) [y](#a-b) [z](#c) ![](https://a.b)\n')
  assert [found.split(':')[0] for found in blocks.broken_links(page)] == [
    'no.md',
    '#c',
  ]


def test_failing_code_is_named(tmp_path):
  code = blocks.Block('python', 'x = 1\nassert x == 2\n', (3, 5), frozenset())
  with pytest.raises(AssertionError, match=r'page.md:4'):
    blocks.run_python([code], tmp_path / 'page.md')


def test_other_output_is_noticed(tmp_path):
  assert not blocks.same_output('165825794', '165825793\n')
  printed = f'stepwise {stepwise.__version__}\n'
  assert blocks.run_command('stepwise --version') == printed
  page = tmp_path / 'page.md'
  page.write_text('```console\n$ stepwise --version\n1\n```\n')
  blocks.update(page, tmp_path)
  assert printed in page.read_text()
