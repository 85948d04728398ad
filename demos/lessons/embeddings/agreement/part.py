"""Agreement with people: Spearman's correlation with human ratings for every pooling and layer; misjudged pairs."""

from collections.abc import Generator
from dataclasses import dataclass

import gradio as gr
import numpy as np
from scipy.stats import spearmanr

from demos.bert.embeddings.agreement import Agreement, misjudged, shared_steps
from demos.bert.embeddings.pooling import Choice
from demos.bert.embeddings.similarity import cosine
from demos.bert.embeddings.vector_cache import Encoded
from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.once_cache import OnceCache
from demos.errors import UserError
from demos.figures.cosine_heatmap import choice_name, tuned_for
from demos.files import read_beside
from demos.lessons.embeddings.agreement.figure import agreement_code, bars_figure, choice_row, scatter_figure
from demos.lessons.embeddings.agreement.text import TEXT, misjudged_html, numbers_html, said_html
from demos.page.folds import fold, formula_fold, source_fold
from demos.page.lesson import IN_BROWSER
from demos.page.progress import relayed
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View, drawn, options, unlinked
from demos.training.data.rated_pairs import HUB, MAX_PAIRS, OURS, OWN, UPLOAD, our_pairs, read_data
from demos.widgets.file_picker.file_picker import file_picker, shown_for
from demos.widgets.pooling_menus.pooling_menus import (
    layer_choice,
    layer_limit,
    menu_values,
    pooling_choice,
    read_choice,
)

SOURCES = [("this app's own pairs", OWN), ("STS-B, or your own, from a file", UPLOAD), ("STS-B from the Hub", HUB)]
LISTED = 6  # pairs judged worst
KEPT_RESULTS = 12


def results_of(services: Services) -> OnceCache[Encoded, Agreement]:
    return OnceCache(KEPT_RESULTS)


class AgreementWithPeople(View):
    tab, order, reads_sentence = "Agreement with people", 2, False
    look = (
        "The two sentences of each pair were rated for how similar their meanings are. Each bar is a rank "
        "correlation: do the cosines put the pairs in the same order as the ratings? 1 means the same order, 0 means "
        "no relation. Compare [CLS] across the layers."
    )

    @dataclass(frozen=True)
    class Choices:
        agreement_data: str = options(SOURCES, OWN, "Sentence pairs and their ratings")
        agreement_pooling: str = pooling_choice(by_script=True)
        agreement_layer: str = layer_choice(by_script=True)
        file: str | None = unlinked(None, redraws=True)

    def lay_out(self, at: Layout) -> None:
        at.plot("bars", "Spearman’s ρ of every choice", elem_id="embeddings-agreement-bars", elem_classes="picture")
        at["summary"] = gr.HTML(elem_classes="said")
        with gr.Row():
            with gr.Column(scale=3, min_width=320):
                source = at.control("agreement_data")
            with gr.Column(scale=2, min_width=320):
                kinds = f"CSV, Excel or JSON: sentence1, sentence2, score (at most {MAX_PAIRS:,} pairs)"
                file = file_picker(kinds, height=110, visible=False, elem_id="embeddings-agreement-file")
                at.hold("file", file)
                at["status"] = gr.HTML("", elem_id="embeddings-agreement-status")
        with gr.Row():
            with gr.Column(scale=3, min_width=320):
                with gr.Row():
                    menus = [at.control("agreement_pooling"), at.control("agreement_layer")]
                at["heading"] = gr.HTML(elem_classes="said")
                at.plot("scatter", "Cosine against rating", elem_id="embeddings-agreement-scatter")
            with gr.Column(scale=2, min_width=320):
                at["worst"] = gr.HTML(elem_id="embeddings-agreement-worst")
        clicked = gr.HTML(
            "",
            html_template="",
            js_on_load=read_beside(__file__, "script.js"),
            apply_default_css=False,
            elem_id="embeddings-agreement-click",
            name="embeddings-agreement",
        )
        with fold(__file__, "numbers", "The numbers"):
            at["numbers"] = gr.HTML()
        formula_fold(__file__)
        with fold(__file__, "code", "The code"):
            prints = "Prints ρ for the selected choice; run it in the project’s folder or next to your file"
            at["program"] = gr.Code("", language="python", interactive=False, label=prints, lines=8)
            gr.DownloadButton("Download this app's pairs", value=str(OURS), size="sm")
        source_fold(__file__)
        clicked.select(None, None, menus, js="() => insideBert.picked['embeddings-agreement']()", **IN_BROWSER)
        shown_for(source, file, UPLOAD)

    @drawn(limits=("agreement_layer",))
    def draw(self, on: On, c: Choices) -> Generator[Shown]:
        """All choices on the pairs, and the selected one; before that, the model's progress."""
        try:
            loaded = on.loaded
            choice = read_choice(loaded, c.agreement_pooling, c.agreement_layer)
            if c.agreement_data == HUB:
                yield {"status": TEXT.fetching()}
            data = read_data(c.agreement_data, c.file)
            steps = shared_steps(on.services.shared(results_of), on.services.vectors, loaded, data.pairs)
            agreement = yield from relayed(steps, lambda step: {"status": TEXT.progress(step)})
        except UserError:
            yield {"status": ""}  # the line of progress must not stay; the sentence is above it
            raise
        spec, deepest, width = loaded.spec, loaded.model.config.num_hidden_layers, loaded.model.config.hidden_size
        row = choice_row(agreement.choices, choice)
        model, people = misjudged(agreement.cosines[row], agreement.scores)
        off = np.abs(model - people)
        marked = [int(index) for index in np.argsort(-off, kind="stable")[:LISTED] if off[index] > 0]
        menus = [menu_values(other, deepest) for other in agreement.choices]
        is_ours = c.agreement_data == OWN
        yield {
            "status": TEXT.read_as(data.read_as.note) if data.read_as else "",
            "bars": bars_figure(agreement, row, deepest, menus),
            "summary": said_html(agreement, deepest, tuned_for(spec), is_ours, spec.key == BUNDLED),
            "agreement_layer": layer_limit(loaded, c.agreement_layer),
            "heading": TEXT.picked(choice_name(agreement.choices[row], deepest), agreement.correlations[row].spearman),
            "scatter": scatter_figure(agreement, row, marked),
            "worst": misjudged_html(agreement, row, marked, model, people),
            "numbers": lambda: numbers_html(agreement, row, deepest, width),
            "program": lambda: agreement_code(spec, agreement.choices[row], data.name, data.form),
        }


def answer(services: Services, sentence: Sentence) -> Answer:
    """Spearman's rho of the cosines and the ratings of this app's own pairs, for three choices."""
    loaded, pairs = services.loaded(sentence.model), our_pairs().pairs
    last = loaded.spec.num_layers
    choices = {"cls": Choice("cls", last), "mean": Choice("mean", last), "input": Choice("mean", 0)}
    texts = [text for pair in pairs for text in (pair.first, pair.second)]
    vectors = services.vectors.get(loaded, texts, list(choices.values()))
    scores = [pair.score for pair in pairs]
    rho = {
        name: float(spearmanr(cosine(rows[::2], rows[1::2]), scores).statistic)
        for name, rows in zip(choices, vectors, strict=True)
    }
    return Answer(facts={"pairs": len(pairs), **rho})
