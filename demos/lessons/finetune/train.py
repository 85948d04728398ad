"""Part "Train": fine-tune live. Pick a base, a vector, layers, an optimizer; press Start; watch it learn; try it."""

from __future__ import annotations

from typing import Any

import gradio as gr

from demos.errors import UserError
from demos.figures.training_code import code_for
from demos.figures.training_told import dataset_html, head_html, model_html, step_html, vector_html
from demos.page.curve import idle_message, live_curve
from demos.page.folds import formula_fold, source_fold
from demos.page.lesson import Page, Part
from demos.page.services import Sentence
from demos.page.trainer import CHANGED, QUEUE, Trainer
from demos.training.asked import OWN, UPLOAD, read_dataset, read_settings
from demos.training.data import MAX_TRAIN, Dataset
from demos.training.metrics import majority
from demos.training.settings import Settings

FILES = [".csv", ".tsv", ".jsonl", ".txt"]
TRY = "I can't believe you remembered!"
AWAITED = "Choose a file: a text and a label column, named in its first row; two columns need no names."
DATA_PATH = "assets/data/emotion.tsv"
RATES = [2e-5, 5e-5, 1e-4, 2e-4, 5e-4]
DEFAULT = Settings()


def build(page: Page) -> None:
    """The recipe beside the live curve, then what it learned, the data and the folds; each part fills itself."""
    workshop = page.services.workshop
    trainer = Trainer(page.services, workshop)
    parts: dict[str, Any] = {"run": gr.State("", delete_callback=workshop.runs.discard), "kept": page.trained}
    with gr.Row():
        with gr.Column(min_width=320, elem_classes="recipe"):
            parts |= _recipe()
        with gr.Column(min_width=320):
            parts |= _live()
    parts |= _results()
    parts |= _data()
    parts |= _folds()
    _wire_recipe(page, trainer, parts)
    _wire_runs(page, trainer, parts)
    page.keep(
        pooling=parts["pooling"],
        hidden=parts["hidden"],
        dropout=parts["dropout"],
        rate=parts["rate"],
        epochs=parts["epochs"],
        schedule=parts["schedule"],
        warmup=parts["warmup"],
        batch=parts["batch_size"],
        decay=parts["decay"],
        tokens=parts["length"],
        most=parts["most"],
        seed=parts["seed"],
    )


def _recipe() -> dict[str, Any]:
    """The lecture's four steps."""
    with gr.Row():
        with gr.Column(min_width=250, elem_classes="step"):
            gr.HTML(step_html(1, "Pick a base model"))
            base = gr.HTML()
        with gr.Column(min_width=250, elem_classes="step"):
            gr.HTML(step_html(2, "One vector for the sentence"))
            names = [("mean", "mean"), ("[CLS]", "cls"), ("max", "max")]
            pooling = gr.Radio(names, value=DEFAULT.pooling, label="Pooling")
            vector = gr.HTML()
    with gr.Row():
        with gr.Column(min_width=250, elem_classes="step"):
            gr.HTML(step_html(3, "Layers on top"))
            widths = [("none", 0), ("64", 64), ("256", 256)]
            hidden = gr.Radio(widths, value=sum(DEFAULT.hidden[:1]), label="One more dense layer")
            dropout = gr.Slider(0, 0.5, DEFAULT.dropout, step=0.05, label="Dropout")
            head = gr.HTML()
        with gr.Column(min_width=250, elem_classes="step"):
            gr.HTML(step_html(4, "Optimizer and schedule"))
            with gr.Row():
                rates = [(f"{rate:.0e}".replace("e-0", "e-"), rate) for rate in RATES]
                rate = gr.Dropdown(
                    rates, value=DEFAULT.learning_rate, label="Learning rate", filterable=False, min_width=110
                )
                epochs = gr.Slider(1, 10, DEFAULT.epochs, step=1, label="Epochs", min_width=130)
            schedule = gr.Radio(["linear", "cosine", "constant"], value=DEFAULT.schedule, label="After warm-up")
            warmup = gr.Slider(0, 0.5, DEFAULT.warmup, step=0.05, label="Warm-up, share of steps")
    return {
        "base": base,
        "pooling": pooling,
        "vector": vector,
        "hidden": hidden,
        "dropout": dropout,
        "head": head,
        "rate": rate,
        "epochs": epochs,
        "schedule": schedule,
        "warmup": warmup,
    }


def _live() -> dict[str, Any]:
    """Start, stop, what it costs, and the curve."""
    with gr.Row():
        start = gr.Button("Start", variant="primary", elem_id="finetune-start", min_width=150)
        stop = gr.Button("Stop and keep", interactive=False, elem_id="finetune-stop", min_width=150)
    cost = gr.HTML(elem_id="finetune-cost")
    curve = live_curve(elem_id="finetune-curve")
    return {"start": start, "stop": stop, "cost": cost, "curve": curve}


def _results() -> dict[str, Any]:
    """What a run learned; hidden until there is one."""
    with gr.Column(visible=False, elem_id="finetune-results") as results:
        scores = gr.HTML(elem_classes="said")
        with gr.Row():
            with gr.Column(min_width=320):
                gr.HTML("<h3>What it takes for what</h3>")
                confusion = gr.Plot(label="Confusion matrix of the test sentences", show_label=False)
            with gr.Column(min_width=320):
                gr.HTML("<h3>Where it is wrong</h3>")
                mistakes = gr.HTML()
        gr.HTML("<h3>Try it</h3>")
        with gr.Row():
            with gr.Column(min_width=320):
                sentence = gr.Textbox(TRY, label="A sentence of your own", lines=1, elem_id="finetune-try")
                ask = gr.Button("Ask the trained model", elem_id="finetune-ask")
            with gr.Column(min_width=320):
                chances = gr.HTML(elem_id="finetune-chances")
    return {
        "results": results,
        "scores": scores,
        "confusion": confusion,
        "mistakes": mistakes,
        "sentence": sentence,
        "ask": ask,
        "chances": chances,
    }


def _data() -> dict[str, Any]:
    """The data picker, the settings that are seldom moved, and the sentences."""
    with gr.Row():
        with gr.Column(scale=2, min_width=320):
            gr.HTML("<h3>The data</h3>")
            sources = [("Emotion: sentences written for this lesson", OWN), ("a file of your own", UPLOAD)]
            source = gr.Radio(sources, value=OWN, show_label=False, label="Data")
            with gr.Row(visible=False) as files:
                file = gr.File(label="CSV, TSV or JSONL with text and label", file_types=FILES, height=120)
                test_file = gr.File(label="a separate test file (optional)", file_types=FILES, height=120)
            with gr.Accordion("More settings", open=False), gr.Row():
                batch_size = gr.Slider(4, 64, DEFAULT.batch_size, step=4, label="Batch size", min_width=140)
                decay = gr.Slider(0, 0.1, DEFAULT.weight_decay, step=0.01, label="Weight decay", min_width=140)
                length = gr.Slider(8, 128, DEFAULT.max_length, step=8, label="Most tokens a sentence", min_width=140)
                most = gr.Slider(50, MAX_TRAIN, MAX_TRAIN, step=50, label="Most training sentences", min_width=140)
                seed = gr.Number(DEFAULT.seed, precision=0, label="Seed", min_width=140)
        with gr.Column(scale=3, min_width=320):
            data = gr.HTML(elem_id="finetune-data")
    return {
        "source": source,
        "files": files,
        "file": file,
        "test_file": test_file,
        "batch_size": batch_size,
        "decay": decay,
        "length": length,
        "most": most,
        "seed": seed,
        "data": data,
    }


def _folds() -> dict[str, Any]:
    """The numbers, the formula, the code, the source."""
    with gr.Accordion("The numbers", open=False):
        numbers = gr.HTML('<p class="aside">There are none before a run.</p>')
    formula_fold("finetune")
    with gr.Accordion("The code", open=False):
        gr.Markdown("The recipe above with torch and transformers alone, on the emotion sentences.")
        code = gr.Code(language="python", interactive=False, show_label=False)
    source_fold("finetune")
    return {"numbers": numbers, "code": code}


def _chosen(parts: dict[str, Any]) -> tuple[list[gr.Component], list[gr.Component]]:
    """(the data picker's four, the recipe's eleven), in the order of `read_dataset` and `read_settings`."""
    picked = ["source", "file", "test_file", "most"]
    recipe = ["pooling", "hidden", "dropout", "rate", "epochs", "schedule", "warmup"]
    recipe += ["batch_size", "decay", "length", "seed"]
    return [parts[name] for name in picked], [parts[name] for name in recipe]


def _wire_recipe(page: Page, trainer: Trainer, parts: dict[str, Any]) -> None:
    """What the choices mean, before anything is trained."""
    picked, recipe = _chosen(parts)
    source, file, test_file, most = picked

    def show(bar: Sentence, source: str, file: str, test_file: str, most: Any, *chosen: Any) -> list[Any]:
        """The recipe's shapes and the data; needs no model in memory."""
        settings = read_settings(*chosen)
        spec = page.services.store.spec(bar.model)
        shapes = [model_html(spec), vector_html(settings.pooling, spec.width)]
        shown_files = gr.update(visible=source == UPLOAD)
        program = code_for(spec, settings, DATA_PATH)
        if source == UPLOAD and not file:
            return [*shapes, "", shown_files, f"<p>{AWAITED}</p>", program]
        dataset = read_dataset(source, file, test_file, most, settings.seed)
        layers = head_html(spec.width, settings, len(dataset.labels))
        return [*shapes, layers, shown_files, dataset_html(dataset), program]

    def show_cost(bar: Sentence, source: str, file: str, test_file: str, most: Any, *chosen: Any) -> str:
        """What Start would do, counted on the model."""
        try:
            settings = read_settings(*chosen)
            dataset = read_dataset(source, file, test_file, most, settings.seed)
        except UserError:  # `show` tells it
            return ""
        return trainer.cost(bar.model, dataset, settings)

    def show_idle(current: str, before: str, source: str, file: str, test_file: str, most: Any, seed: Any) -> Any:
        """Empty axes with what guessing reaches, unless a run is on them."""
        if current or before:
            return gr.skip()
        try:
            dataset = read_dataset(source, file, test_file, most, seed)
        except UserError:  # `show` tells it
            return gr.skip()
        return idle_message(*_guessed(dataset))

    moved = [source.input, file.change, test_file.change, *[one.change for one in (*recipe, most)]]
    shown = [parts[name] for name in ("base", "vector", "head", "files", "data", "code")]
    page.draw(show, [*picked, *recipe], shown, triggers=moved, show_progress="hidden")
    page.draw(show_cost, [*picked, *recipe], [parts["cost"]], triggers=moved, show_progress="hidden")
    page.on(
        [page.settled.change, source.input, file.change, test_file.change, most.change],
        show_idle,
        [parts["run"], parts["kept"], *picked, parts["seed"]],
        [parts["curve"]],
        trigger_mode="always_last",
        show_progress="hidden",
    )


def _wire_runs(page: Page, trainer: Trainer, parts: dict[str, Any]) -> None:
    """Start, stop, ask."""
    picked, recipe = _chosen(parts)
    page.on(
        [parts["start"].click],
        trainer.train,
        [*page.sentence, parts["kept"], parts["sentence"], *picked, *recipe],
        [parts[name] for name in CHANGED],
        show_progress="hidden",
        trigger_mode="once",
        **QUEUE,
    )
    page.on([parts["stop"].click], trainer.stop, [parts["run"]], [parts["stop"]], show_progress="hidden")
    asked = [parts["ask"].click, parts["sentence"].submit]
    page.on(asked, trainer.answer, [parts["kept"], parts["sentence"]], [parts["chances"]])


def _guessed(dataset: Dataset) -> tuple[Dataset, float]:
    train, test = ([example.label for example in split] for split in (dataset.train, dataset.test))
    return dataset, majority(train, test, len(dataset.labels))[1]


PART = Part(
    slug="train",
    tab="Train",
    look="Four choices make a recipe. Press Start and watch the validation curve: the training curve may also show "
    "what was learned by heart.",
    build=build,
)
