"""Pictures of every page, into `docs/images`: `make screenshots`.

Needs chromium and chromedriver. Pages are made here, of what comes with the
package: its article, an invented game, and tables of `examples`.
"""

import json
import tempfile
import time
from pathlib import Path

from stepwise.evaluation import NamedSummaries, compare_systems, render_html
from stepwise.pages import render_page
from stepwise.planning import bundled_planner, plan_page
from stepwise.realization import (
  TemplateRealizer,
  fuller_plan,
  known_entries,
  render_report,
  write_report,
)
from stepwise.rotowire import read_games, sample_game
from stepwise.summarization import (
  load_summarizer,
  sample_article,
  summary_page,
)
from stepwise.tables import report_page, report_table, table_plan_page
from stepwise.training import read_history, run_page
from tests.pages.browser import Browser, browser
from tests.serve.servers import serving

ROOT = Path(__file__).parents[1]
IMAGES = Path(__file__).parent / 'images'
DESK, PHONE = (1100, 760), (390, 760)


def make_pages(folder: Path) -> dict[str, str]:
  """A page of every kind, by name."""
  summary = load_summarizer('auto')(sample_article())
  (game,) = read_games(sample_game())
  planner = bundled_planner()
  (plan,) = planner([game])
  sales = ROOT / 'examples' / 'tables' / 'sales'
  report = report_table(sales / 'sales.csv', templates=sales / 'templates.toml')
  written = write_report(
    *(game, fuller_plan(known_entries(plan, game), game), TemplateRealizer()),
    planner='the packaged planner',
  )
  title = f'{game.visitor.entity} at {game.home.entity}, {game.date}'
  return {
    'summary': render_page(summary_page(summary, 'harbour.txt')),
    'game_plan': render_page(plan_page(planner.trace(game), title)),
    'game_report': render_report(written),
    'table_plan': render_page(table_plan_page(report.plan)),
    'table_report': report_page(report),
    'evaluation': evaluation(),
    'run': run(folder),
  }


def evaluation() -> str:
  """Rankers on parts of the article, against its first sentences."""
  units = load_summarizer('lead')(sample_article()).document.units
  documents = [units[start:] for start in range(18)]
  names = ('lead', 'lexrank', 'textrank')
  systems = [
    NamedSummaries(
      name,
      [
        tuple(each.text for each in load_summarizer(name)(list(document)))
        for document in documents
      ],
    )
    for name in names
  ]
  references = [document[1:4] for document in documents]
  return render_html(compare_systems(systems, references, documents=documents))


def run(folder: Path) -> str:
  """The training of the packaged model, as its results are kept."""
  config = {
    'model': {'name': 'hibert_news'},
    'steps': 0,
    'checkpoints': {'best_metric': 'validation/loss', 'best_mode': 'min'},
  }
  source = ROOT / 'benchmarks' / 'results' / 'default_model_training.jsonl'
  rows = source.read_text('utf-8').splitlines()
  config['steps'] = max(json.loads(row)['step'] for row in rows)
  (folder / 'config.json').write_text(json.dumps(config), 'utf-8')
  (folder / 'metrics.jsonl').write_text('\n'.join(rows), 'utf-8')
  return run_page(read_history(folder))


def shoot(opened: Browser, page: Path | str, name: str, size: tuple) -> None:
  opened.load(page, *size)
  opened.screenshot(IMAGES / f'{name}.png')


def scheme(opened: Browser, name: str) -> None:
  feature = {'name': 'prefers-color-scheme', 'value': name}
  opened.devtools('Emulation.setEmulatedMedia', features=[feature])


def shoot_server(opened: Browser, address: str) -> None:
  opened.load(f'{address}/', *DESK)
  opened.wait_for('return document.getElementById("model").options.length > 3')
  opened.run('document.getElementById("sample").click()')
  opened.wait_for('return document.getElementById("text").value !== ""')
  opened.screenshot(IMAGES / 'serve.png')
  opened.run('document.getElementById("form").requestSubmit()')
  done = 'return document.getElementById("status").textContent === "Done."'
  opened.wait_for(done)
  time.sleep(1)  # The frame is drawn by and by.
  opened.screenshot(IMAGES / 'serve_result.png')


def main() -> None:
  IMAGES.mkdir(exist_ok=True)
  with tempfile.TemporaryDirectory() as name, browser() as opened:
    folder = Path(name)
    scheme(opened, 'light')
    for kind, text in make_pages(folder).items():
      page = folder / f'{kind}.html'
      page.write_text(text, 'utf-8')
      shoot(opened, page, kind, DESK)
    scheme(opened, 'dark')
    shoot(opened, folder / 'summary.html', 'summary_phone_dark', PHONE)
    shoot(
      opened, folder / 'table_report.html', 'table_report_phone_dark', PHONE
    )
    scheme(opened, 'light')
    with serving() as address:
      shoot_server(opened, address)
  for image in sorted(IMAGES.glob('*.png')):
    print(f'{image.relative_to(ROOT)}: {image.stat().st_size // 1024} KiB')


if __name__ == '__main__':
  main()
