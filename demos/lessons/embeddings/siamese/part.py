"""Train on pairs: a training in the style of Sentence-BERT, and the agreement with people before and after."""

import json
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

import gradio as gr
import numpy as np

from demos.bert.embeddings.agreement import correlation, scores_of
from demos.bert.embeddings.vector_cache import Encoded
from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.figures.cosine_heatmap import short
from demos.lessons.embeddings.siamese.controller import AXES, CHANGED, PairTrainer, Ran, Situation, failed
from demos.lessons.embeddings.siamese.figure import scatter_figure, spread_figure
from demos.lessons.embeddings.siamese.program import siamese_code
from demos.lessons.embeddings.siamese.text import TEXT, data_html, moved_html, numbers_html, scores_html
from demos.page.folds import fold, formula_fold, source_fold
from demos.page.progress import relayed
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View, drawn, limit, menu, options, slider, unlinked
from demos.training.data.rated_pairs import HUB, MAX_PAIRS, OWN, UPLOAD, read_data
from demos.training.service.background import Changes
from demos.training.settings import Settings
from demos.training.tasks.siamese.data import our_split, split_pairs
from demos.widgets.file_picker.file_picker import file_picker, shown_for
from demos.widgets.live_curve.live_curve import live_curve
from demos.widgets.run_controller.run_controller import RunChoices, RunController, cpu_button, guarded
from demos.widgets.seed_box.seed_box import seed_choice

MAX_LENGTH = 128  # tokens in one sentence of a training
BAR = -1  # in the menu of pairs: the sentence bar's own two
BARS_OWN = ("the two sentences from the top of the page", BAR)
LISTED = 40  # held-out pairs in the menu, the most misjudged first
POOLINGS = [("[CLS]", "cls"), ("mean", "mean"), ("max", "max")]
STARTS = [("the pre-trained model", "trained"), ("random layers (untrained)", "random")]
SOURCES = [("this app's own pairs", OWN), ("STS-B, or your own, from a file", UPLOAD), ("STS-B from the Hub", HUB)]
RATES = [(f"{rate:.0e}".replace("e-0", "e-"), rate) for rate in (1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4)]
BEGINNING = ("siamese_pooling", "siamese_start", "siamese_data", "file", "siamese_seed")  # of a run
RECIPE = ("siamese_rate", "siamese_epochs", "siamese_batch")
NO_RUN = "Nothing has been trained yet; click Start and watch the gray points move."
OTHER_RUN = (
    "No model has been trained with these settings yet; click Start. To see your last run again, choose its settings."
)
NO_PAIR = "Write a second sentence at the top of the page, or choose a held-out pair."


def runs(services: Services) -> RunController:
    """The part's runs, for all its readers."""
    trainer = services.shared(PairTrainer)

    def work(run: str, reader: str, on: On, c: TrainOnPairs.Choices, on_cpu: bool = False) -> Iterator[Changes]:
        return guarded(lambda: trainer.train(run, situation_of(on, c), c.ran, on_cpu), failed)

    return RunController(services.trainings, "siamese", work)


class TrainOnPairs(View):
    tab, order, only_bert = "Train on pairs", 7, True
    look = (
        "Training moves the cosine of two sentence vectors towards the human rating. Click Start: the points move "
        "towards the dashed line. The correlation ρ on held-out pairs shows whether their order has improved."
    )

    @dataclass(frozen=True)
    class Choices(RunChoices):
        siamese_pooling: str = options(POOLINGS, "cls", "Pooling: which vector represents the sentence")
        siamese_epochs: int = slider(1, 10, 3, "Epochs")
        siamese_start: str = options(STARTS, "trained", "Start from")
        siamese_data: str = options(SOURCES, OWN, "Sentence pairs and their ratings")
        siamese_rate: float = menu(RATES, 5e-5, "Learning rate", min_width=110)
        siamese_batch: int = slider(4, 64, 16, "Batch size (pairs)", step=4, min_width=140)
        siamese_seed: int = seed_choice(0, "Seed: split and order", min_width=140)
        siamese_pair: int = menu(  # by its place in the menu
            [*((f"pair {place + 1}", place) for place in range(LISTED)), BARS_OWN],
            0,
            "Held-out pair (largest errors first)",
            elem_id="embeddings-siamese-pair",
        )
        file: str | None = unlinked(None, redraws=True)
        ran: Ran | None = unlinked(None, redraws=True)

    def lay_out(self, at: Layout) -> None:
        page, buttons = at.page, {}
        with gr.Row(elem_classes="controls-first"):
            with gr.Column(scale=2, min_width=300):
                at.control("siamese_pooling")
                at.control("siamese_epochs")
                with gr.Row():
                    buttons["start"] = gr.Button(
                        "Start", variant="primary", elem_id="embeddings-siamese-start", min_width=110
                    )
                    buttons["stop"] = gr.Button(
                        "Stop early", interactive=False, elem_id="embeddings-siamese-stop", min_width=110
                    )
                with at.all_controls():
                    at.control("siamese_start")
                    source = at.control("siamese_data")
                    kinds = f"CSV, Excel or JSON: sentence1, sentence2, score (at most {MAX_PAIRS:,} pairs)"
                    file = at.hold("file", file_picker(kinds, height=110, visible=False))
                    with gr.Row():
                        at.control("siamese_rate")
                        at.control("siamese_batch")
                        at.control("siamese_seed")
                at["data"] = gr.HTML()
                at.look()
            with gr.Column(scale=5, min_width=320):
                with gr.Row():
                    with gr.Column(min_width=320):
                        at.plot(
                            "scatter",
                            "Cosine against rating of the held-out pairs",
                            elem_id="embeddings-siamese-scatter",
                            elem_classes="picture",
                        )
                    with gr.Column(min_width=320):
                        news = page.services.shared(PairTrainer).feeds.news
                        at["curve"] = live_curve(news, elem_id="embeddings-siamese-curve")
                        buttons["on_cpu"] = cpu_button(elem_id="embeddings-siamese-on-cpu")
                at["scores"] = gr.HTML(elem_classes="said", elem_id="embeddings-siamese-scores")
        with gr.Row():
            with gr.Column(scale=4, min_width=320):
                gr.HTML(TEXT.towers_heading(), elem_classes="said")
                at.control("siamese_pair")
                at["towers"] = gr.HTML(elem_id="embeddings-siamese-towers")
            with gr.Column(scale=3, min_width=320):
                gr.HTML(TEXT.spread_heading(), elem_classes="said")
                at.plot("spread", "Cosines of the held-out pairs")
        at["moved"] = gr.HTML("", elem_id="embeddings-siamese-after")
        with fold(__file__, "numbers", "The numbers"):
            at["numbers"] = gr.HTML()
        formula_fold(__file__)
        with fold(__file__, "code", "The code"):
            gr.Markdown(
                "The same training, using only torch and transformers. Run it in the project’s folder or next to your "
                "file; on a CPU, it prints the same two values of ρ as this page, up to rounding."
            )
            at["program"] = gr.Code(language="python", interactive=False, show_label=False)
        source_fold(__file__)
        shown_for(source, file, UPLOAD)
        at.hold("ran")
        page.services.shared(runs).wire(at, buttons, ("ran", *BEGINNING, *RECIPE), CHANGED)

    @drawn(by=(*BEGINNING, "reader", "begun", "run", "ran"), reads_sentence=False)
    def draw(self, on: On, c: Choices) -> Generator[Shown]:
        """The held-out pairs before any training; and after it, where the last run began like this."""
        try:
            situation = situation_of(on, c)
            ran = of_run(situation, c.ran)
            before, after = yield from relayed(
                cosines(on, situation, ran), lambda step: {"scores": TEXT.progress(step)}
            )
        except UserError:
            yield {"scores": ""}  # the line of progress must not stay; the sentence is above it
            raise
        dataset, ratings = situation.dataset, scores_of(situation.dataset.held_out)
        loss = float(np.mean((before - ratings / dataset.top) ** 2))
        rho = correlation(np.array(before), ratings)
        shown = {
            "data": data_html(dataset, c.siamese_start, c.siamese_data == OWN, situation.key == BUNDLED),
            "scores": scores_html(dataset, rho, loss, ran.result if ran else None),
            "spread": spread_figure(before, after),
            "moved": moved_html(dataset, ran.result) if ran else "",
            "numbers": lambda: (
                numbers_html(dataset, ran.result, ran.looks, ran.result.steps) if ran else TEXT.no_numbers()
            ),
        }
        if not c.run and not on.services.shared(runs).is_elsewhere(c.reader, c.begun):
            shown["curve"] = ran.curve if ran else idle(OTHER_RUN if c.ran else NO_RUN)
        yield shown

    @drawn("scatter", "towers", by=(*BEGINNING, "siamese_pair", "ran"), limits=("siamese_pair",))
    def draw_pair(self, on: On, c: Choices) -> Generator[Shown]:
        """The pair of the menu through both towers, and its ring in the scatter."""
        situation = situation_of(on, c)
        ran = of_run(situation, c.ran)
        before, after = yield from relayed(cosines(on, situation, ran), lambda _: {})
        pairs, top = situation.dataset.held_out, situation.dataset.top
        rows = (-np.abs(before - scores_of(pairs) / top)).argsort(kind="stable")[:LISTED].tolist()
        place = min(c.siamese_pair, len(rows) - 1)
        row = BAR if place == BAR else rows[place]
        listed = [f"{short(pairs[at].first, 70)} / {short(pairs[at].second, 70)}" for at in rows]
        shown: Shown = {
            "scatter": scatter_figure(pairs, top, before, after, row),
            "siamese_pair": limit(choices=[*zip(listed, range(LISTED), strict=False), BARS_OWN], value=place),
        }
        rating = None if row == BAR else pairs[row].score
        texts = (on.sentence.text, on.sentence.text_pair) if row == BAR else (pairs[row].first, pairs[row].second)
        if not all(text.strip() for text in texts):
            yield shown
            raise UserError(NO_PAIR)
        names = "The sentence", "The second sentence"
        first, second = (clean_text(text, name).strip() for text, name in zip(texts, names, strict=True))
        yield shown | {"towers": on.services.shared(PairTrainer).towers(situation, ran, (first, second), rating)}

    @drawn("program", by=(*BEGINNING, *RECIPE), reads_sentence=False)
    def program(self, on: On, c: Choices) -> Shown:
        begun = situation_of(on, c)
        return {"program": siamese_code(on.services.store.spec(begun.key), begun.dataset, begun.settings)}


def situation_of(on: On, c: TrainOnPairs.Choices) -> Situation:
    """The situation in which a run of these choices begins. Raises UserError if no pairs are available."""
    settings = Settings(
        pooling=c.siamese_pooling,
        start=c.siamese_start,
        learning_rate=c.siamese_rate,
        epochs=c.siamese_epochs,
        batch_size=c.siamese_batch,
        seed=c.siamese_seed,
        max_length=MAX_LENGTH,
    ).check()
    seed, source = c.siamese_seed, c.siamese_data
    dataset = our_split(seed) if source == OWN else split_pairs(read_data(source, c.file), seed)
    return Situation(on.services.pretrained_key(on.sentence.model), dataset, settings)


def of_run(situation: Situation, ran: Ran | None) -> Ran | None:
    """The last run, where it began like this."""
    return ran if ran and ran.situation == situation.name else None


def cosines(
    on: On, situation: Situation, ran: Ran | None
) -> Generator[Encoded, None, tuple[Sequence[float], Sequence[float] | None]]:
    """The held-out pairs' cosines before the training and, where it was done, after it."""
    if ran:
        return ran.result.before, ran.result.after
    before = yield from on.services.shared(PairTrainer).before(situation)
    return before.tolist(), None


def idle(status: str) -> str:
    """The curve's message without a run."""
    return json.dumps({**AXES, "run": "", "done": True, "steps": [], "looks": [], "status": status})


def answer(services: Services, sentence: Sentence) -> Answer:
    """The parameters of the reader's encoder."""
    model = services.loaded(sentence.model).model
    return Answer(facts={"parameters": f"{sum(weights.numel() for weights in model.parameters()):,}"})
