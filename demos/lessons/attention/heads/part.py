"""One head: all heads at a glance, heads found by their pattern, and one opened in bertviz's views and as numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import gradio as gr
import numpy as np

from demos.bert.attention.contributions import CONTRIBUTION, WEIGHT, measured
from demos.bert.attention.head_profiles import Habit, habit_sentences, measure_habit
from demos.bert.attention.matrix_labels import Labels
from demos.bert.attention.patterns import even_scores, pattern_scores
from demos.bert.attention.queries_keys import queries_and_keys
from demos.bert.model.local_layers import kind_said, reaches
from demos.bert.model.once_cache import OnceCache
from demos.counting import counted, head_name
from demos.errors import UserError
from demos.figures.matrix import NORM, matrix_figure, matrix_table
from demos.figures.program import attention_code
from demos.lessons.attention.heads.figure_standalone import Standalone
from demos.lessons.attention.heads.layout import PAGE, HeadChoices, alone_in_a_file, head_html, lay_out_views, title
from demos.lessons.attention.heads.program import contribution_code
from demos.page.folds import fold
from demos.page.progress import relayed
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View, drawn, limit
from demos.templates import in_script, templates
from demos.widgets.bertviz.messages import BrowserCache, caption, frame_message, left_out
from demos.widgets.bertviz.views import VIEWS, heads_on, lines_said
from demos.widgets.head_grid.figure import grid_message, habit_message, heads_table, pattern_table, run_key
from demos.widgets.head_grid.head_grid import head_to_open
from demos.widgets.takeaway.takeaway import sized

TEXT = templates(__file__)
MAX_CACHED = 8  # models' habits by each measure; one of 24 layers of 16 heads is 25 kB
WAITING_LIMIT = 64
TABLE_TOKENS = 64  # rows and columns; more is no table to read, and half a megabyte of it
THIRDS = ("first", "middle", "last")
PATTERN = "previous"


@dataclass(frozen=True)
class Pictures:
    """The part's drawings of a sentence, remembered for all readers."""

    of_head: Callable[..., Shown]
    of_all_heads: Callable[..., Shown]

    @classmethod
    def remembered(cls, services: Services) -> Pictures:
        """Both by the services' memory of drawings."""
        remembered = services.drawings.remembered
        return cls(remembered(partial(of_head, services)), remembered(partial(of_all_heads, services)))


def of_head(
    services: Services, sentence: Sentence, view: str, layer: int, head: int, measure: str, lines: str
) -> Shown:
    """The open head: the frame's message (`frame_message`), its heatmap, and the sentences about both."""
    loaded, run, shape = services.loaded(sentence.model), services.run(sentence), VIEWS[view]
    of_layers = reaches(loaded.model.config)
    reach = of_layers[layer] if of_layers else None
    vectors = partial(queries_and_keys, loaded, run)
    both = {name: measured(loaded, run, name) for name in (WEIGHT, CONTRIBUTION)}
    by, other = both.values() if measure != CONTRIBUTION else reversed(both.values())
    message = frame_message(run, shape, layer, head, vectors, by)
    message["heads"] = heads_on(lines, head, run.num_heads)
    lines = lines_said(message["heads"], head)
    shown = Labels.of_tokens(run.encoding, shape.limit)
    weights = by.amounts(layer)[head][: len(shown), : len(shown)]
    what = NORM if by is both[CONTRIBUTION] else "weight"
    return {
        "frame": message,
        "plot": matrix_figure(weights, shown, shown, what=what, reach=reach),
        "said": head_html(by, other, layer, head)
        + TEXT.kind(kind_said(of_layers, layer, len(run.encoding), reach is not None and len(shown) > reach + 1)),
        "caption": TEXT.caption(shape.name, caption(run, shape, by=by)),
        "whole": sized(PAGE, Standalone(run, shape.name, layer, head, vectors, loaded.spec.title, lines, by).size()),
        "lines": lines,
    }


def of_all_heads(services: Services, sentence: Sentence, measure: str) -> Shown:
    """The grid of small pictures, and the key that names what it is of."""
    run = services.run(sentence)
    by = measured(services.loaded(sentence.model), run, measure)
    return {"grid": in_script(grid_message(run, by)), "key": run_key(run, by.measure)}


def habits(_: Services) -> OnceCache[int, Habit]:
    """The latest habits, for all readers."""
    return OnceCache(2 * MAX_CACHED)


class Heads(View):
    tab, order, former = "One head", 1, "one"
    look = (
        "Choose a head by its small picture or by its pattern. Each line runs from a token on the left to a token it "
        "attends to on the right. A stronger line means a larger weight, or a larger share of the "
        "contributions to its left token."
    )
    Choices = HeadChoices

    def lay_out(self, at: Layout) -> None:
        lay_out_views(at)
        with fold(__file__, "numbers", "The numbers"):
            at["table"] = gr.HTML("")
            at["patterns"] = at["average_patterns"] = gr.HTML("", elem_id="attention-patterns")
        at.folds("Prints this head's numbers", numbers=())

    @drawn(limits=("layer", "head", "lines"), pure=False)  # it leaves out what the browser has; the rest is remembered
    def draw(self, on: On, c: HeadChoices) -> Shown:
        """All that shows one head, and the grid of all; what the frame and the grid have is not sent again."""
        pictures = on.services.shared(Pictures.remembered)
        layer, head = head_to_open(on.services, on.sentence.model, c.layer, c.head, c.key)
        shown = dict(pictures.of_head(on.sentence, c.view, layer, head, c.measure, c.lines))
        message, now_cached = left_out(shown["frame"], BrowserCache.read(c.cached))
        all_heads = pictures.of_all_heads(on.sentence, c.measure)
        spec, encoding, by = on.loaded.spec, on.encoding, cache(partial(measured, on.loaded, on.run, c.measure))

        def table() -> str:
            few = Labels.of_tokens(encoding, TABLE_TOKENS)
            named = title(encoding, c.measure, head_name(layer, head), len(few))
            return matrix_table(by().amounts(layer)[head][: len(few), : len(few)], few, few, named)

        def patterns() -> str:
            return scores_table(by().scores(), c.pattern, scores_of("this sentence", c.measure))

        code = contribution_code if c.measure == CONTRIBUTION else attention_code
        return {
            **shown,
            "frame": in_script(message),
            "cached": now_cached.say(),
            "layer": limit(value=layer),
            "head": limit(value=head),
            "lines": limit(value=shown["lines"]),
            **(all_heads if all_heads["key"] != c.key else {"key": c.key}),
            "table": table,
            "program": lambda: code(spec, encoding, layer, head),
            **({} if c.habit == "habit" else {"patterns": patterns}),
        }

    @drawn(
        "averages",
        "reading",
        "average_patterns",
        by=("pattern", "habit", "measure"),
        reads_sentence=False,
        for_all=True,
        concurrency_id="habit",
        concurrency_limit=WAITING_LIMIT,  # a reader who waits blocks no other
    )
    def draw_habit(self, on: On, c: HeadChoices) -> Iterator[Shown]:
        """The progress, then the averages and their table. The sentences are run when the average is chosen."""
        if c.habit != "habit":
            yield {"reading": ""}
            return
        sentences = habit_sentences()
        key = (on.loaded.spec.key, on.loaded.spec.revision, c.measure)
        steps = on.services.shared(habits).steps(key, partial(measure_habit, on.loaded, sentences, c.measure), 0)
        habit = yield from relayed(steps, lambda done: {"reading": TEXT.reading(done, len(sentences))})
        of = scores_of(f"mean over {habit.sentences} sentences", c.measure)
        table = scores_table(habit.scores, c.pattern, of)
        yield {"averages": habit_message(habit), "reading": "", "average_patterns": table}


def scores_table(scores: dict[str, np.ndarray], pattern: str, of: str = "this sentence") -> str:
    """The chosen pattern by layer and head, or all patterns where none is chosen."""
    return pattern_table(scores[pattern], pattern, of) if pattern in scores else heads_table(scores, of)


def scores_of(sentences: str, measure: str) -> str:
    """A phrase for the sentences that patterns are scored on, and for the measure if it is not the weight."""
    return sentences if measure == WEIGHT else f"{sentences}, measured as shares of the summed norms of each row"


def standalone(services: Services, sentence: Sentence, choices: Mapping[str, Any]) -> str:
    """bertviz's views of the sentence in one HTML file."""
    on, view = On(services, sentence), Heads()
    named = {name: choices[name] for name in ("view", "layer", "head", "lines", "measure")}
    return alone_in_a_file(on, view.read(on, named))[1]


def answer(services: Services, sentence: Sentence) -> Answer:
    """The head with the largest mean weight from a token to the one before it. UserError where there is none."""
    run = services.run(sentence)
    scores = pattern_scores(run.attentions, run.encoding)[PATTERN]  # [L, A]
    if np.isnan(scores).any():
        raise UserError("This input has no token before another; type a sentence first.")
    layer, head = (int(place) for place in np.unravel_index(scores.argmax(), scores.shape))
    facts = {"layer": counted(layer), "head": counted(head), "share": scores[layer, head]}
    facts["even"] = even_scores(run.encoding)[PATTERN]
    return Answer(keys=frozenset({THIRDS[layer * 3 // len(scores)]}), facts=facts)
