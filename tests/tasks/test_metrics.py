import numpy as np
import pytest
import seqio

from stepwise._errors import InputError
from stepwise.documents import read_documents
from stepwise.evaluation import (
  MEASURES,
  NamedSummaries,
  bootstrap_interval,
  compare_systems,
  rouge_scores,
)
from stepwise.tasks import (
  SelectedText,
  StepwiseFeatureConverter,
  register_jsonl_tasks,
  rouge_metric,
)
from tests.tasks.stories import write_stories

ENDS = ('', '_low', '_high')
TEXT = '“One” naïve unit. Two\nlines here. Three.'
EXAMPLE = {
  'id': b'doc',
  'inputs_pretokenized': TEXT.encode(),
  'spans': np.array([(0, 0), (0, 0), (0, 17), (18, 33), (34, 40)], np.int32),
}


def test_selected_text_is_verbatim_and_ends_at_the_stop():
  select = SelectedText(stop=0)
  chosen = select([3, 1, 2, 0, 4, -1], example=EXAMPLE, is_target=False)
  assert chosen == ['Two\nlines here.', '“One” naïve unit.']
  assert select(np.array([-1, -1]), example=EXAMPLE) == []


def test_without_a_stop_unit_0_is_a_sentence():
  example = {**EXAMPLE, 'spans': EXAMPLE['spans'][2:]}
  chosen = SelectedText(stop=None)([0, 2, -1], example=example)
  assert chosen == ['“One” naïve unit.', 'Three.']


def test_the_reference_is_its_sentences():
  lines = 'First line.\nSecond line.'
  sentences = SelectedText(stop=0)(lines, example=EXAMPLE, is_target=True)
  assert sentences == ['First line.', 'Second line.']


def test_units_that_do_not_exist_are_named():
  with pytest.raises(InputError, match="unit 5 but document 'doc' has 5 units"):
    SelectedText(stop=0)([2, 5], example=EXAMPLE)


def test_rouge_equals_the_evaluation_package():
  predictions = [['A red fox ran.'], ['Nothing here.', 'It snowed.'], ['Rain.']]
  targets = [['The red fox ran off.'], ['It snowed all day.'], ['Sun.']]
  metrics = rouge_metric(targets, predictions)
  scores = 100 * rouge_scores(predictions, targets)[..., MEASURES.index('f1')]
  kinds = ('rouge1', 'rouge2', 'rougeLsum')
  assert set(metrics) == {f'{kind}{end}' for kind in kinds for end in ENDS}
  for column, kind in enumerate(kinds):
    interval = bootstrap_interval(scores[:, column])
    assert metrics[kind] == interval.mean
    assert metrics[f'{kind}_low'] == interval.low
    assert metrics[f'{kind}_high'] == interval.high
  assert metrics['rouge1_low'] < metrics['rouge1'] < metrics['rouge1_high']


def test_an_evaluator_scores_lead_like_the_command_line(tmp_path):
  path = write_stories(tmp_path / 'stories.jsonl')
  task, *_ = register_jsonl_tasks('evaluated', {'validation': path})
  evaluator = seqio.Evaluator(task, StepwiseFeatureConverter(9))

  def lead(dataset):
    return [(int(index), [2, 3, 0, -1]) for index, _ in dataset]

  metrics, _ = evaluator.evaluate(compute_metrics=True, predict_fn=lead)
  evaluator.close()
  documents = list(read_documents(path))
  system = NamedSummaries(
    'lead', [document.units[:2] for document in documents]
  )
  report = compare_systems([system], [d.summary for d in documents])
  for kind, interval in report.systems[0].rouge.items():
    if kind != 'mean':
      found = [metrics.result()[task][f'{kind}{end}'] for end in ENDS]
      assert found == [
        interval['f1'].mean,
        interval['f1'].low,
        interval['f1'].high,
      ]
