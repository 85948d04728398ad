"""The agreement part's handlers: what is drawn, what the bundled model really shows, and programs that agree."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr

from demos.bert.embeddings.agreement import Agreement, agreement_steps
from demos.bert.embeddings.pooling import CONCAT_LAST_FOUR, Choice, choices_of
from demos.bert.embeddings.vector_cache import Encoded, VectorCache
from demos.bert.model.models import LoadedModel
from demos.bert.model.once_cache import OnceCache
from demos.errors import UserError
from demos.lessons.embeddings.agreement.figure import agreement_code
from demos.lessons.embeddings.agreement.part import AgreementWithPeople
from demos.page.services import Sentence, Services
from demos.training.data.rated_pairs import (
    FORM_KEYS,
    HUB_FILE,
    HUB_REVISION,
    UPLOAD,
    Form,
    our_pairs,
    read_data,
    read_pairs,
)
from demos.widgets.pooling_menus.pooling_menus import menu_values, read_choice
from tests.lessons.embeddings.answers import as_read
from tests.programs import printed


def shown(services: Services, **choices: Any) -> dict[str, Any]:
    drawn = AgreementWithPeople().shown(services, Sentence("", "", "minilm"), **choices)
    return {name: as_read(value) for name, value in drawn.items()}


def test_the_bundled_model_on_our_pairs(services: Services, bundled: LoadedModel) -> None:
    of = shown(services, agreement_pooling="cls", agreement_layer="1")
    bars, told = of["bars"], of["summary"]
    assert of["status"] == ""
    kept, cache = OnceCache[Encoded, Agreement](1), services.vectors
    agreement = kept.get("", lambda: agreement_steps(cache, bundled, our_pairs().pairs), Encoded(0, 0))
    found = dict(zip(agreement.choices, agreement.correlations, strict=True))
    drawn = {tuple(point): y for bar in bars.data[:4] for point, y in zip(bar.customdata, bar.y, strict=True)}
    assert len(drawn) == len(found) == 40
    for (pooling, layer, *_), rho in drawn.items():  # what a click on the bar sets the menus to
        one = found[read_choice(bundled, pooling, layer)].spearman
        assert math.isnan(one) if rho is None else rho == pytest.approx(one, abs=1e-4)
    # What a lecturer says of this picture, and what its students could doubt:
    rho = {choice: one.spearman for choice, one in found.items()}
    assert math.isnan(rho[Choice("cls", 0)])  # the same vector in every sentence
    assert all(rho[Choice("mean", layer)] > rho[Choice("cls", layer)] for layer in range(1, 6))
    behind = dict(agreement.behind)
    assert behind[1].clear  # [CLS] is clearly behind in the first layer
    assert behind[1].difference > 0.08
    assert not behind[6].clear  # and in the last, tuned one it is not
    assert rho[Choice("mean", 6)] > rho[Choice("mean", 0)] + 0.1
    assert rho[Choice("mean", 6)] > agreement.overlap.spearman + 0.2
    best = max(one for one in rho.values() if not math.isnan(one))
    assert f"ρ = <b>{best:.2f}</b>" in told
    assert "not by many people" in " ".join(told.split())
    low = agreement.cosines[agreement.choices.index(Choice("cls", 1))].min()
    assert 0.999 < low < 1
    assert f"In layer 1, every cosine of two [CLS] vectors is above {int(low * 1_000) / 1_000:.3f}" in told
    assert "In layer 6, every cosine" not in told
    assert "captions" not in told
    assert "within chance" in told
    assert f"ρ = {rho[Choice('cls', 1)]:.2f}" in of["heading"]
    assert len(of["scatter"].data[0].x) == len(our_pairs().pairs)
    assert of["worst"].count("<li>") == 6
    assert of["numbers"].count("<tr>") == 1 + 40 + 1 + 1 + 10
    # one vector for every sentence: the picture and the table say alike why there is no ρ
    assert [mark.text for mark in bars.layout.annotations if "ρ" in mark.text] == ["no ρ: all cosines are equal"]
    assert of["numbers"].count("no ρ: all cosines are equal") == 1


def test_the_menus_say_every_choice(bundled: LoadedModel) -> None:
    for choice in choices_of(bundled):
        assert read_choice(bundled, *menu_values(choice, 6)) == choice
    assert menu_values(Choice("pooler", 12), 12) == ("pooler", "last")


def test_a_file_is_read_and_no_file_is_a_sentence(services: Services, tmp_path: Path) -> None:
    evil = tmp_path / "evil.csv"
    rows = [("<script>alert(1)</script> ${x}", "<img src=x onerror=alert(1)> 🎻"), ("A cat.", "A cat."), ("a", "b")]
    evil.write_text("".join(f"{a},{b},{n}\n" for n in range(3) for a, b in rows), encoding="utf-8")
    of = shown(services, agreement_data=UPLOAD, file=str(evil))
    assert "ours" not in of["summary"]
    assert "this model was trained on pairs of photo captions" in of["summary"]  # for a file may be STS-B's
    assert not any("<script" in of[name] or "<img" in of[name] for name in ("summary", "worst", "numbers"))
    assert "<img" not in of["scatter"].to_json()
    assert "evil.csv" in of["program"]
    assert of["bars"].data
    with pytest.raises(UserError, match="Choose a file"):
        read_data(UPLOAD, None)


@pytest.mark.parametrize(
    ("name", "choice"),
    [("a.tsv", Choice("mean", 6)), ("b.csv", Choice("cls", 5)), ("c.jsonl", Choice("max", CONCAT_LAST_FOUR))],
)
def test_the_program_prints_the_page_s_rho(
    name: str, choice: Choice, bundled: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = our_pairs().pairs[:34]  # one more than a batch
    rows = [{"score": pair.score, "kind": "", "sentence1": pair.first, "sentence2": pair.second} for pair in pairs]
    text = {
        "a.tsv": "\t".join(rows[0]) + "\n" + "".join("\t".join(map(str, row.values())) + "\n" for row in rows),
        "b.csv": "".join(f'"{pair.first}","{pair.second}",{pair.score}\n' for pair in pairs),
        "c.jsonl": "\n".join(map(json.dumps, rows)),
    }[name]
    (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    rated = read_pairs(text.encode(), name)
    (line,) = printed(agreement_code(bundled.spec, choice, rated.name, rated.form))
    both = [[pair.first for pair in pairs], [pair.second for pair in pairs]]
    (vectors,) = VectorCache().get(bundled, [*both[0], *both[1]], [choice])
    units = vectors.astype(np.float64) / np.linalg.norm(vectors, axis=1, keepdims=True)
    rho = spearmanr((units[:34] * units[34:]).sum(axis=1), [pair.score for pair in pairs]).statistic
    assert float(line) == pytest.approx(rho, abs=0.0011)


def test_a_program_without_a_rho_prints_why(
    bundled: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "".join(f'"{pair.first}","{pair.second}",{pair.score}\n' for pair in our_pairs().pairs[:6])
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    rated = read_pairs(text.encode(), "a.csv")
    code = agreement_code(bundled.spec, Choice("cls", 0), rated.name, rated.form)
    assert printed(code) == ["no rho: all cosines are equal"]


def test_our_file_and_the_hub_s_are_read_by_their_programs(bundled: LoadedModel) -> None:
    ours = our_pairs()
    code = agreement_code(bundled.spec, Choice("mean", 6), ours.name, ours.form)
    lines: dict[str, Any] = {}
    exec("import csv\n" + code[code.index("with open") : code.index("cosines = []")], lines)
    assert list(zip(lines["first"], lines["second"], lines["scores"], strict=True)) == [
        (pair.first, pair.second, pair.score) for pair in ours.pairs
    ]
    hub = agreement_code(bundled.spec, Choice("mean", 6), HUB_FILE, Form("jsonl", FORM_KEYS))
    compile(hub, "hub", "exec")
    assert HUB_REVISION in hub
