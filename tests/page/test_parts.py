"""A lesson in parts: the open one alone is told to redraw, and each finds its choices in the lesson's link."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest

from demos.bert.model.models import ModelStore
from demos.lessons import attention, discover
from demos.page.lesson import Lesson, Page, Part
from demos.page.parts import build_lesson
from demos.page.services import Services
from tests.page.empty_page import empty_page
from tests.systems import needs_links


def lesson_of(built: dict[str, Page], *slugs: str) -> Lesson:
    def build(slug: str) -> Any:
        def keep(page: Page) -> None:
            built[slug] = page
            page.keep(**{f"choice_{slug}": gr.Textbox("")})

        return SimpleNamespace(build=keep)

    parts = tuple(
        Part(slug.title(), f"Look at {slug} & see.", build(slug), order=order, slug=slug)
        for order, slug in enumerate(slugs)
    )
    return Lesson("long", 9, "Long", "Long?", "Look. Here.", lambda page: built.update(top=page), parts)


@pytest.fixture
def built(store: ModelStore) -> dict[str, Any]:
    found: dict[str, Any] = {}
    lesson = lesson_of(found, "one", "two")
    with gr.Blocks() as found["demo"]:
        page = empty_page(Services(store, "minilm"), lesson)
        build_lesson(page)
    return found


def test_each_part_has_a_tick_of_its_own_and_shares_the_rest(built: dict[str, Any]) -> None:
    assert len({built[name].settled._id for name in ("top", "one", "two")}) == 3
    assert built["one"].text is built["two"].text is built["top"].text
    assert len({id(built[name].notices) for name in ("top", "one", "two")}) == 3  # a sentence stays in its part
    assert set(built["top"].choices) == {"part", "choice_one", "choice_two"}
    assert built["top"].choices["part"].choices == [("one", "one"), ("two", "two")]  # a link can name no other


def test_the_lesson_passes_its_tick_to_the_open_part(built: dict[str, Any]) -> None:
    own = {
        (trigger[1], tuple(part._id for part in event.outputs))
        for event in built["demo"].fns.values()
        for trigger in event.targets
        if built["top"].settled._id == trigger[0]
    }
    assert own == {("change", (built["one"].settled._id, built["two"].settled._id))}
    assert all(event.api_visibility == "private" for event in built["demo"].fns.values())


def test_a_hostile_look_is_text(built: dict[str, Any]) -> None:
    texts = [block.value for block in built["demo"].blocks.values() if isinstance(block, gr.HTML)]
    assert '<p class="look">Look at one &amp; see.</p>' in texts


ROOT = Path(__file__).resolve().parents[2]


BUILD = """
import app
import gradio as gr
from demos.bert.model.models import ModelStore
from demos.lessons import attention
from demos.page.services import Services

app.discover = lambda: [attention.LESSON]
demo = app.build_pages(Services(ModelStore(), "minilm"))
tabs = [tab for tab in demo.blocks.values() if isinstance(tab, gr.Tab)]
print([tab.id for tab in tabs if (tab.elem_id or "").startswith("attention-")])
(slider,) = [slider for slider in demo.blocks.values() if getattr(slider, "label", "") == "Minimum number of letters"]
(draw,) = [event for event in demo.fns.values() if event.fn is not None and slider in event.inputs]
print(draw.fn("", "A <b>sentence</b> of unequal words", "", "minilm", 7))
scripts = [event["js"] for event in demo.config["dependencies"]]
print(any(isinstance(script, str) and '"letters"' in script for script in scripts))
"""


@pytest.mark.slow
@needs_links
def test_the_part_that_the_readme_of_demos_adds_is_there(tmp_path: Path) -> None:
    """Its files put into a folder of a copy, and nothing else: it stands in its lesson and in the link, and draws."""
    readme = (ROOT / "demos" / "README.md").read_text(encoding="utf-8")
    readme = readme.partition("## Add a part")[2].partition("\n## ")[0]
    assert "`long_words/` in `demos/lessons/attention/`" in readme
    shutil.copytree(ROOT / "demos", tmp_path / "demos")  # compiled already
    shutil.copy(ROOT / "app.py", tmp_path)
    (tmp_path / "assets").symlink_to(ROOT / "assets")
    folder = tmp_path / "demos" / "lessons" / "attention" / "long_words"
    folder.mkdir()
    for name, language in (("part.py", "py"), ("text.html", "html")):
        assert f"`{name}`" in readme
        (block,) = re.findall(rf"```{language}\n(.*?)```", readme, flags=re.S)
        (folder / name).write_text(block, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", BUILD], cwd=tmp_path, capture_output=True, text=True, timeout=240, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr[-3000:]
    tabs, drawn, linked = done.stdout.splitlines()
    assert tabs == str([*(part.slug for part in attention.LESSON.parts), "long_words"])
    assert "<li>&lt;b&gt;sentence&lt;/b&gt;</li><li>unequal</li>" in drawn.replace("\\n", "")
    assert linked == "True"


def test_links_of_earlier_versions_name_one_part_each() -> None:
    former = {
        f"{lesson.slug} {part.former}": part.slug for lesson in discover() for part in lesson.parts if part.former
    }
    assert former == {
        "attention one": "heads",
        "attention together": "rollout",
        "attention cause": "ablation",
        "encoder selfattention": "self_attention",
        "encoder stack": "residual_stream",
        "pretraining fill": "fill_mask",
        "pretraining corrupt": "corruption",
        "pretraining next": "next_sentence",
        "embeddings compare": "pooling",
        "embeddings word": "word_senses",
        "embeddings shape": "anisotropy",
        "embeddings features": "frozen_features",
        "finetune after": "results",
        "finetune amount": "learning_curve",
        "finetune keep": "export",
    }
    for lesson in discover():
        slugs = [part.slug for part in lesson.parts]
        assert len(set(slugs)) == len(slugs)
        assert not {part.former for part in lesson.parts} & set(slugs)
