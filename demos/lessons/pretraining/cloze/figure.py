"""A cloze prompt as text, its two words as bars, and the measured accuracies (Plotly)."""

from collections.abc import Sequence

from demos.bert.model.catalogue import ModelSpec
from demos.bert.pretraining.cloze import Reading, Solved, solved_lines
from demos.figures.figure.figure import Figure, Trace
from demos.figures.numbers import percent
from demos.figures.palette import CLASSES, SPECIAL, plotly_layout
from demos.figures.token_chips import token_label
from demos.files import read_beside
from demos.lessons.pretraining.cloze.samples import Sample
from demos.lessons.pretraining.program_lines import begin_lines
from demos.templates import templates

TEXT = templates(__file__)
LINES = {  # method: (its name, hue, dash, symbol)
    "probability": ("prompt: more probable word", CLASSES[0], "dot", "circle-open"),
    "gain": ("prompt: larger ratio", CLASSES[0], "solid", "circle"),
    "tuned_with_prompt": ("fine-tuned with the prompt", CLASSES[1], "solid", "square"),
    "fine_tuned": ("fine-tuned with a new layer", CLASSES[2], "dash", "diamond"),
    "few": ("fine-tuned: recipe for few examples", CLASSES[5], "longdash", "triangle-up"),
}
PROGRAM = read_beside(__file__, "program.txt")


def reading_html(with_text: Reading, without: Reading) -> str:
    """Both words' probabilities with and without the sentence, the two decisions, the most probable words."""
    rows = [
        (there, here, there.probability / here.probability)
        for there, here in zip(with_text.words, without.words, strict=True)
    ]
    widest = max(guess.probability for reading in (with_text, without) for guess in reading.words)
    return TEXT.reading(
        rows,
        widest,
        with_text.log_odds > 0,
        with_text.log_odds > without.log_odds,
        (with_text.log_odds, without.log_odds),
        with_text.best,
        token_label,
        percent,
    )


def accuracy_figure(sample: Sample) -> Figure:
    """Each method's mean over the draws by the number of examples of each class."""
    traces: list[Trace] = []
    numbers = sample.numbers
    for method, (name, hue, dash, symbol) in LINES.items():
        scores = sample.accuracy[method]
        known = [number for number in numbers if number in scores]
        line = {
            "type": "scatter",
            "x": [str(number) for number in known],
            "y": [sample.mean(method, number) for number in known],
            "customdata": [[min(scores[number]), max(scores[number])] for number in known],
            "mode": "lines+markers",
            "name": name,
            "line": {"color": hue, "width": 3, "dash": dash},
            "marker": {"size": 11, "symbol": symbol, "color": hue},
            "hovertemplate": f"{name}<br>%{{x}} of each class: %{{y:.1%}}<br>draws from %{{customdata[0]:.1%}} to "
            "%{customdata[1]:.1%}<extra></extra>",
        }
        traces.append(line)
    chance = {
        "type": "scatter",
        "x": [str(number) for number in numbers],
        "y": [0.5] * len(numbers),
        "mode": "lines",
        "name": "chance",
        "line": {"color": SPECIAL, "width": 2, "dash": "dashdot"},
        "hovertemplate": "chance: 50%<extra></extra>",
    }
    layout = plotly_layout(
        height=420,
        margin={"l": 62, "r": 10, "t": 8, "b": 160},
        legend={"orientation": "h", "x": 0, "y": 0, "yref": "container", "yanchor": "bottom", "font": {"size": 16}},
        xaxis={"type": "category", "title": {"text": "labeled examples of each class", "standoff": 6}},
        yaxis={"tickformat": ".0%", "title": {"text": "accuracy"}},
    )
    return {"data": [*traces, chance], "layout": layout}


def accuracy_html(sample: Sample) -> str:
    """The same as a table: mean over the draws, lowest and highest."""
    rows = [
        (name, [sample.accuracy[method].get(number, ()) for number in sample.numbers])
        for method, (name, *_) in LINES.items()
    ]
    return TEXT.accuracies(sample, rows)


def cloze_code(spec: ModelSpec, text: str, solved: Sequence[Solved], pattern: str, label_words: tuple[str, str]) -> str:
    """Prints both words' probabilities with and without the text. `spec` is the encoder's, as in `Pretrained`."""
    examples = " ".join(solved_lines(solved, pattern, label_words))
    return PROGRAM.format(
        begin=begin_lines(spec), examples=examples, text=text, pattern=pattern, label_words=list(label_words)
    )
