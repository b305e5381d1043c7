"""One page of every kind, to look at and to test."""

import json

from stepwise.documents import ReadOptions
from stepwise.evaluation import NamedSummaries, compare_systems, render_html
from stepwise.pages import Cell, Page, PageStep, PageUnit, render_page
from stepwise.realization import TemplateRealizer, render_report, write_report
from stepwise.rotowire import parse_game
from stepwise.summarization import load_summarizer, summary_page
from stepwise.tables import (
  plan_table,
  report_page,
  report_table,
  table_plan_page,
)
from stepwise.training import read_history, run_page
from tests.realization.usual_plans import plan_game
from tests.rotowire.games import game_fields

SALES = [
  {'region': 'North', 'sales Q1': 812, 'sales Q2': 846, 'orders': 70},
  {'region': 'South', 'sales Q1': 640, 'sales Q2': 612, 'orders': 64},
  {'region': 'West', 'sales Q1': 906, 'sales Q2': 1225, 'orders': 93},
]
TEXTS = {
  'en': 'It rained all day in the north. The match was called off. Few minded.',
  'ar': 'افتتح الميناء أمس في المدينة. استمر العمل ثلاث سنوات. لم يتكلم أحد.',
  'zh': '港口昨天在城里开放了。工程持续了三年。没有人说话。',
}


def summary(language='en'):
  reading = ReadOptions(language=language)
  made = load_summarizer('lexrank')(TEXTS[language], reading=reading)
  return render_page(summary_page(made, f'A text ({language})'))


def many_sentences(count=5000):
  """A page of a long text, with probabilities, as a model would give."""
  units = tuple(
    PageUnit(f'Sentence {i} is short.', 4, paragraph=i % 9 == 0)
    for i in range(count)
  )
  even = (0.9 / count,) * count
  steps = tuple(
    PageStep(unit, 'chose sentence', 0.1, even, 0.1)
    for unit in (3, count // 2, count - 2)
  )
  return render_page(
    Page(f'{count} sentences', 'Long.', units, steps, answer=('Sentence 3.',))
  )


def plan():
  """A plan of a model: steps with probabilities beside a table."""
  units = tuple(
    PageUnit(
      f'Player {i} had {i + j} {name}.',
      4,
      cell=Cell('Players', f'Player {i}', name, str(i + j)),
    )
    for i in range(12)
    for j, name in enumerate(('points', 'rebounds', 'assists'))
  )
  even = (0.9 / len(units),) * len(units)
  steps = (
    PageStep(4, 'chose', 0.9, even, 0.1, group='Sentence 1'),
    PageStep(
      None, 'ended the sentence', 0.8, even, 0.1, 'full stop', 'Sentence 1'
    ),
    PageStep(7, 'chose', 0.7, even, 0.1, group='Sentence 2'),
  )
  return render_page(
    Page('A plan', 'Two sentences.', units, steps, answer_title='Plan')
  )


def table_plan():
  return render_page(table_plan_page(plan_table(SALES)))


def table_report():
  return report_page(report_table(SALES))


def game_report():
  game = parse_game(game_fields())
  return render_report(write_report(game, plan_game(game), TemplateRealizer()))


def evaluation():
  documents = [
    tuple(f'Unit {i} of {n} says so.' for i in range(n)) for n in range(3, 18)
  ]
  references = [units[:2] for units in documents]
  systems = [
    NamedSummaries('lead', [units[:2] for units in documents]),
    NamedSummaries('last', [units[-2:] for units in documents]),
    NamedSummaries('middle of the document', [u[1:3] for u in documents]),
  ]
  report = compare_systems(systems, references, documents=documents)
  return render_html(report)


def run(folder):
  """The page of a run that never was, in an empty folder."""
  config = {
    'model': {'name': 'hibert_tiny'},
    'steps': 100,
    'checkpoints': {'best_metric': 'validation/loss', 'best_mode': 'min'},
  }
  (folder / 'config.json').write_text(json.dumps(config))
  rows = [
    {
      'step': step,
      'train/loss': 4 / step**0.3,
      'train/learning_rate': 1e-4 * min(1, step / 20),
      **({'validation/loss': 4.4 / step**0.25} if step % 10 == 0 else {}),
    }
    for step in range(1, 101)
  ]
  text = ''.join(json.dumps(row) + '\n' for row in rows)
  (folder / 'metrics.jsonl').write_text(text)
  return run_page(read_history(folder))


PAGES = {
  each.__name__: each
  for each in (
    *(summary, many_sentences, plan, table_plan, table_report, game_report),
    evaluation,
  )
}
