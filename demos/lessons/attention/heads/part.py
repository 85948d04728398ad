"""One head: all heads at a glance, heads found by their pattern, and one opened in bertviz's views and as numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import gradio as gr
import numpy as np

from demos.bert.attention.contributions import CONTRIBUTION, WEIGHT, Measured, measured
from demos.bert.attention.head_profiles import Habit, habit_sentences, measure_habit
from demos.bert.attention.matrix_labels import Labels
from demos.bert.attention.queries_keys import queries_and_keys
from demos.bert.model.once_cache import OnceCache
from demos.bert.model.run import Run
from demos.counting import head_name
from demos.figures.matrix import NORM, matrix_figure, matrix_table
from demos.figures.program import attention_code
from demos.lessons.attention.heads.figure_standalone import Standalone
from demos.lessons.attention.heads.layout import GRID, PAGE, alone_in_a_file, layout, opened
from demos.lessons.attention.heads.program import contribution_code
from demos.lessons.attention.heads.text import head_html, title
from demos.page.folds import code_fold, fold, formula_fold, source_fold
from demos.page.layer_head_choices import slider
from demos.page.lesson import IN_BROWSER, Page, Part, by_component
from demos.page.progress import relayed
from demos.page.services import Sentence, Services
from demos.templates import templates
from demos.widgets.bertviz.frame import frame_value
from demos.widgets.bertviz.messages import BrowserCache, caption, frame_message, left_out
from demos.widgets.bertviz.views import VIEWS, heads_on, lines_said
from demos.widgets.head_grid.figure import grid_message, habit_message, heads_table, pattern_table, run_key
from demos.widgets.head_grid.head_grid import grid_value, head_to_open, show_in_grid
from demos.widgets.takeaway.takeaway import sized

TEXT = templates(__file__)
MAX_CACHED = 8  # models' habits by each measure; one of 24 layers of 16 heads is 25 kB
WAITING_LIMIT = 64
TABLE_TOKENS = 64  # rows and columns; more is no table to read, and half a megabyte of it
CHOSEN = ("view", "layer", "head", "pattern", "lines", "measure")  # in the link
FILLED = ("frame", "held", "layer", "head", "plot", "said", "caption", "table", "program", "grid", "key", "patterns",
          "whole", "lines")  # fmt: skip


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    parts = layout(page)
    parts |= {name: gr.Textbox("", visible="hidden") for name in ("held", "key", "averages")}
    with fold(__file__, "numbers", "The numbers"):
        parts["table"] = gr.HTML("")
        parts["patterns"] = gr.HTML("", elem_id="attention-patterns")
    formula_fold(__file__)
    parts["program"] = code_fold(__file__, "Prints this head's numbers")
    source_fold(__file__)
    page.keep(**{name: parts[name] for name in CHOSEN}, habit=parts["source"])
    _wire_heads(page, parts)
    _wire_habits(page, parts)


def _wire_heads(page: Page, parts: dict[str, Any]) -> None:
    """Redraw everything about one head when it, the view or the sentence changes, wherever it was picked.

    What is picked in the frame or the grid is written to the controls at once, in the browser: they say what the reader
    has chosen, also while an answer is awaited.
    """
    inputs = [parts[name] for name in ("view", "layer", "head", "held", "key", "pattern", "source", "measure", "lines")]
    place = [parts[name] for name in ("layer", "head", "lines")]
    parts["frame"].select(
        None, [*place, parts["held"]], [*place, parts["held"]],
        js="(...values) => insideBert.attention.chosen(values)", **IN_BROWSER,
    )  # fmt: skip
    for event, script in ((parts["grid"].select, "fill(place, 0)"), (parts["pattern"].input, "aim(place, 0, 2)")):
        event(  # a head among all heads is seen alone: the model view, of all, gives way
            None,
            [parts["view"], *place[:2], parts["pattern"]],
            [parts["view"], *place],
            js=f"(view, ...place) => [view === 'model' ? 'head' : view, "
            f"...insideBert.grids['{GRID}'].{script}.slice(0, 2), '']",
            **IN_BROWSER,
        )
    moved = [parts[name].input for name in ("view", "layer", "head", "source", "measure", "pattern")]
    page.draw(
        by_component(parts, partial(drawn, page.services, pictures=Pictures.remembered(page.services))),
        inputs,
        [parts[name] for name in FILLED],
        triggers=[*moved, parts["frame"].select, parts["grid"].select],
        show_progress="hidden",
        pure=False,  # it leaves out what the browser has; what it draws is remembered
    )
    parts["frame"].input(None, None, [parts["lines"]], js="() => insideBert.attention.lines()", **IN_BROWSER)
    gr.on(  # by whatever they were chosen: in the frame they are on at once
        [parts["head"].change, parts["lines"].change],
        None,
        [parts["head"], parts["lines"]],
        None,
        js="(head, lines) => { insideBert.attention?.show(head, lines); }",
        **IN_BROWSER,
    )


def _wire_habits(page: Page, parts: dict[str, Any]) -> None:
    """Compute habits when they are chosen; the grid gets them, and the head that is open."""
    pattern, source, measure = (parts[name] for name in ("pattern", "source", "measure"))
    habits: OnceCache[int, Habit] = OnceCache(2 * MAX_CACHED)
    page.on(
        [page.settled.change, pattern.input, source.input, measure.input],
        by_component(parts, partial(habit_shown, page.services, habits, habit_sentences())),
        [page.model, pattern, source, measure],
        [parts["averages"], parts["reading"], parts["patterns"]],
        for_all=True,
        trigger_mode="always_last",
        show_progress="hidden",
        concurrency_id="habit",  # a reader who waits blocks no other
        concurrency_limit=WAITING_LIMIT,
    )
    look = {name: parts[name] for name in ("layer", "head", "pattern", "source")} | {"habits": parts["averages"]}
    changes = [component.change for component in look.values()]
    gr.on(changes, None, list(look.values()), None, js=show_in_grid(GRID, *look), **IN_BROWSER)


@dataclass(frozen=True)
class Pictures:
    """The part's drawings of a sentence, remembered for all readers."""

    of_head: Callable[..., dict[str, Any]]
    of_all_heads: Callable[..., dict[str, Any]]

    @classmethod
    def remembered(cls, services: Services) -> Pictures:
        """Both by the services' memory of drawings."""
        remembered = services.drawings.remembered
        return cls(remembered(partial(of_head, services)), remembered(partial(of_all_heads, services)))


def of_head(
    services: Services, sentence: Sentence, view: str, layer: float, head: float, measure: str, lines: str
) -> dict[str, Any]:
    """The open head: the frame's message (`frame_message`), its heatmap, and what is said of both."""
    run, at, number = opened(services, sentence, layer, head)
    loaded = services.loaded(sentence.model)
    shape = VIEWS.get(view, VIEWS["head"])
    vectors = partial(queries_and_keys, loaded, run)
    both = {name: measured(loaded, run, name) for name in (WEIGHT, CONTRIBUTION)}
    by, other = both.values() if measure != CONTRIBUTION else reversed(both.values())
    message = frame_message(run, shape, at, number, vectors, by)
    message["heads"] = heads_on(lines, number, run.num_heads)
    lines = lines_said(message["heads"], number)
    shown = Labels.of_tokens(run.encoding, shape.limit)
    weights = by.amounts(at)[number][: len(shown), : len(shown)]
    what = NORM if by is both[CONTRIBUTION] else "weight"
    return {
        "frame": message,
        "plot": matrix_figure(weights, shown, shown, what=what),
        "said": head_html(by, other, at, number),
        "caption": TEXT.caption(shape.name, caption(run, shape, by=by)),
        "whole": sized(PAGE, Standalone(run, shape.name, at, number, vectors, loaded.spec.title, lines, by).size()),
        "lines": lines,
    }


def of_all_heads(services: Services, sentence: Sentence, measure: str) -> dict[str, Any]:
    """The grid of small pictures, and the key that names what it is of."""
    run = services.run(sentence)
    by = measured(services.loaded(sentence.model), run, CONTRIBUTION if measure == CONTRIBUTION else WEIGHT)
    return {"grid": grid_value(grid_message(run, by)), "key": run_key(run, by.measure)}


def drawn(
    services: Services,
    sentence: Sentence,
    view: str,
    layer: float,
    head: float,
    cached: str,
    drawn_key: str = "",
    pattern: str = "",
    source: str = "sentence",
    measure: str = WEIGHT,
    lines: str = "",
    pictures: Pictures | None = None,
) -> dict[str, Any]:
    """The new values, by the names of the components. A layer or head beyond this model's becomes its last one.

    `cached` is what the frame has already, `drawn_key` what the grid shows: neither is sent again. The head view shows
    the heads that `lines` names (`heads_on`).
    """
    pictures = pictures or Pictures(partial(of_head, services), partial(of_all_heads, services))
    place = head_to_open(services, sentence.model, layer, head, drawn_key)
    follow = place != (layer, head)
    values = dict(pictures.of_head(sentence, view, *place, measure, lines))
    message, now_cached = left_out(values["frame"], BrowserCache.read(cached))
    values |= {"frame": frame_value(message), "held": now_cached.say()}
    all_heads = pictures.of_all_heads(sentence, measure)
    values |= all_heads if all_heads["key"] != drawn_key else {"key": all_heads["key"]}
    spec = services.store.spec(services.key(sentence.model))
    values["layer"] = slider(place[0], spec.num_layers, move=follow)
    values["head"] = slider(place[1], spec.num_heads, move=follow)
    return values | folded(services, sentence, place, pattern, source, measure)


def folded(
    services: Services, sentence: Sentence, place: tuple[float, float], pattern: str, source: str, measure: str
) -> dict[str, Callable[[], str]]:
    """The contents of the folds: the head's weights, the patterns' scores, the program."""

    @cache
    def of_run() -> tuple[Run, int, int, Measured]:
        run, at, number = opened(services, sentence, *place)
        by = CONTRIBUTION if measure == CONTRIBUTION else WEIGHT
        return run, at, number, measured(services.loaded(sentence.model), run, by)

    def table() -> str:
        run, at, number, by = of_run()
        few = Labels.of_tokens(run.encoding, TABLE_TOKENS)
        named = title(run.encoding, by.measure, head_name(at, number), len(few))
        return matrix_table(by.amounts(at)[number][: len(few), : len(few)], few, few, named)

    def program() -> str:
        run, at, number, by = of_run()
        code = contribution_code if by.measure == CONTRIBUTION else attention_code
        return code(services.loaded(sentence.model).spec, run.encoding, at, number)

    def patterns() -> str:
        by = of_run()[3]
        return scores_table(by.scores(), pattern, scores_of("this sentence", by.measure))

    shown = {"table": table, "program": program}
    return shown if source == "habit" else shown | {"patterns": patterns}


def habit_shown(
    services: Services,
    habits: OnceCache[int, Habit],
    sentences: Sequence[tuple[str, str]],
    model: str,
    pattern: str,
    source: str,
    measure: str = WEIGHT,
) -> Iterator[dict[str, str]]:
    """Yield the progress, then the averages and their table. The sentences are run when the average is chosen."""
    if source != "habit":
        yield {"reading": ""}
        return
    loaded = services.loaded(model)
    measure = CONTRIBUTION if measure == CONTRIBUTION else WEIGHT
    key = (loaded.spec.key, loaded.spec.revision, measure)
    steps = habits.steps(key, partial(measure_habit, loaded, sentences, measure), 0)
    habit = yield from relayed(steps, lambda done: {"reading": TEXT.reading(done, len(sentences)), "patterns": ""})
    table = scores_table(habit.scores, pattern, scores_of(f"mean over {habit.sentences} sentences", measure))
    yield {"averages": habit_message(habit), "reading": "", "patterns": table}


def scores_table(scores: dict[str, np.ndarray], pattern: str, of: str = "this sentence") -> str:
    """The chosen pattern by layer and head, or all patterns where none is chosen."""
    return pattern_table(scores[pattern], pattern, of) if pattern in scores else heads_table(scores, of)


def scores_of(sentences: str, measure: str) -> str:
    """A phrase for the sentences that patterns are scored on, and for the measure if it is not the weight."""
    return sentences if measure == WEIGHT else f"{sentences}, measured as shares of the summed norms of each row"


def standalone(services: Services, sentence: Sentence, choices: Mapping[str, Any]) -> str:
    """bertviz's views of the sentence in one HTML file."""
    named = (choices[name] for name in ("view", "layer", "head", "lines", "measure"))
    return alone_in_a_file(services, sentence, *named)[1]


PART = Part(
    tab="One head",
    look=(
        "Choose a head by its small picture or by its pattern. Each line runs from a token on the left to a token it "
        "attends to on the right. A stronger line means a larger weight, or a larger share of the "
        "contributions to its left token."
    ),
    build=build,
    order=1,
    former="one",
    standalone=standalone,
)
