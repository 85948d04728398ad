"""What the question of "Train" tells of pooling: the measured file, whose parameters are counted again here."""

import json
import re

from demos.bert.model.models import LoadedModel
from demos.files import DATA
from demos.lessons.finetune.train.part import measured_facts
from demos.lessons.finetune.train.poolings import COMMAND, poolings_html
from demos.training.compute_cost import cost_of
from demos.training.settings import Settings
from demos.training.tasks.classification.data import load_emotion


def test_the_heads_of_the_measured_poolings_are_as_large_as_told(bundled: LoadedModel) -> None:
    found = json.loads((DATA / "pooling.json").read_text(encoding="utf-8"))["poolings"]
    encoder = sum(parameter.numel() for parameter in bundled.model.parameters())
    for pooling, row in found.items():
        cost = cost_of(load_emotion(), bundled.tokenizer, bundled.model, Settings(pooling=pooling))
        assert cost.parameters - encoder == row["head"]
        assert measured_facts()[f"{pooling}_head"] == f"{row['head']:,}"
        assert 0 < row["accuracy"] < 1


def test_the_table_beside_the_choice_has_the_measured_file() -> None:
    found = json.loads((DATA / "pooling.json").read_text(encoding="utf-8"))
    rows = [
        f"<td>{row['head']:,}</td><td>{row['seconds']:.1f}</td><td>{row['accuracy']:.1%}</td>"
        for row in (found["poolings"][pooling] for pooling in ("cls", "mean", "none"))
    ]
    shown = poolings_html()
    assert re.findall(r"</th>(.+)</tr>", shown)[-3:] == rows
    assert f"mean of {found['seeds']} runs" in shown
    assert COMMAND in shown
    assert COMMAND in (DATA / "pooling.md").read_text(encoding="utf-8")
