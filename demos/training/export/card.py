"""The model card of a kept run: README.md of its folder, what a stranger must know of the model on one page."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from demos.bert.model.catalogue import CATALOGUE
from demos.training.export.run_log import Log
from demos.training.export.transformers_folder import Form

LONGEST = 300  # characters of a text that a person wrote
MOST_LABELS, MOST_NOTES, MOST_LOOKS = 50, 12, 24
LICENCE = "apache-2.0"
APACHE = {spec.hub_id for spec in CATALOGUE.values()}  # the bundled model has no id; all of them are under this licence
KIND_TOLD = {
    "sentence": "gives a sentence one of its classes",
    "pair": "gives two sentences, read together, one of its classes",
    "entities": "finds names in a sentence",
    "question": "finds the answer to a question in a paragraph",
    "choice": "picks the ending that fits",
}
ELSEWHERE = {"file": "a file of the author's own", "hub": "from the Hub"}
BUNDLED_ID = "sentence-transformers/all-MiniLM-L6-v2"  # whose weights the bundled model's are
# What Markdown reads as markup within a line, links of the bare kind among it (www., a scheme, an address), and what
# opens a block or ends a heading. A name's own colons, dots and underscores stay as they are written.
_MARKUP = re.compile(
    r"[\\`*\[\]|~$@]|(?<![^\W_])_|_(?![^\W_])|:(?=//)|(?<=mailto):|(?<=xmpp):|(?<=www)\.|(?<!\S)#"
    r"|^[!-%'-/:;=-@\[-`{-~]",  # `<` and `&` are written by their names
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")
_ENTITY = re.compile(r"&(?=#?\w+;)")


def plain(text: object) -> str:
    """A person's text as Markdown that says just this: one line, no markup, no link, no HTML.

    Read as a file it is the text too, but for the strokes before signs that would be markup (CommonMark 2.4).
    """
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in str(text)).split())
    line = line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
    marked = _NUMBERED.sub(r"\1\\\2", _MARKUP.sub(r"\\\g<0>", line))
    return _ENTITY.sub("&amp;", marked).replace("<", "&lt;")


def _quoted(text: str) -> str:
    """A YAML scalar: JSON's double quotes are YAML's, and every sign beyond ASCII is written as its number."""
    return json.dumps(text[:LONGEST])


def front_matter(log: Log, form: Form) -> str:
    """What the Hub reads: licence, library, task, base model, metrics."""
    lines = ["---", "library_name: transformers"]
    if log.recipe.data not in ELSEWHERE and log.base_id in APACHE:  # else it is the author's to say
        lines.append(f"license: {LICENCE}")
    if form.shape.pipeline:
        lines.append(f"pipeline_tag: {form.shape.pipeline}")
    elif log.recipe.task == "question":
        lines.append("pipeline_tag: question-answering")
    else:
        lines.append("pipeline_tag: multiple-choice")
    lines.append(f"base_model: {_quoted(log.base_id or BUNDLED_ID)}")
    if log.recipe.data == "hub":
        lines.append(f"datasets:\n- {_quoted(log.recipe.hub.split(':')[0])}")
    lines += ["tags:", "- bert", "- inside-bert", *(["- custom_code"] if form.why_own else []), "---"]
    return "\n".join(lines) + "\n"


def card(log: Log, form: Form, loaded: str) -> str:
    """The card: front matter, then what it is, how to load it, data, results, course, recipe, limits.

    `loaded` is `how_loaded`'s sentence. Texts that a person wrote (labels, file names) can do no harm in it.
    """
    train, validation, test = log.sizes
    parts = [
        front_matter(log, form),
        f"# {plain(log.data_name)}, on {plain(log.base_title)}\n",
        f"This model {KIND_TOLD[log.recipe.task]}. It was fine-tuned in Inside BERT, a place to see how BERT works, "
        f"on {train:,} examples in {log.seconds:,.0f} seconds.\n",
        f"## Load it\n\n{loaded}\n\n```python\n{usage_code(log, form)}```\n",
        f"## The data\n\n{_data(log)}\n",
        f"{train:,} examples to train on, {validation:,} to watch during training, {test:,} to test with afterwards.\n",
        _labels(log.labels),
        "".join(f"- {plain(note)}\n" for note in log.notes[:MOST_NOTES]),
        f"## How good it is\n\nOn the {test:,} test examples, which it never saw:\n\n{_results(log)}",
        f"## How it learned\n\n{_stopped(log)}{_looks(log)}",
        f"## The recipe\n\n{_recipe(log)}",
        f"## Limits\n\n{_limits(log)}",
    ]
    return "\n".join(part for part in parts if part)


def usage_code(log: Log, form: Form) -> str:
    """How to load the folder and ask it, as Python; runs in the folder that holds it."""
    own = ", trust_remote_code=True" if form.why_own else ""
    if form.shape.pipeline == "text-classification":
        ask = 'dict(text="The first sentence.", text_pair="The second one.")' if log.recipe.task == "pair" else '"…"'
        return (
            "from transformers import pipeline\n\n"
            f'classify = pipeline("text-classification", model="."{own}, top_k=None)\n'
            f"print(classify({ask}, truncation=True))\n"
        )
    if form.shape.pipeline:
        return (
            "from transformers import pipeline\n\n"
            f'find = pipeline("token-classification", model="."{own}, aggregation_strategy="first")\n'
            'print(find("…"))\n'
        )
    begin = (
        f"import torch\nfrom transformers import AutoTokenizer, {form.auto}\n\n"
        'tokenizer = AutoTokenizer.from_pretrained(".")\n'
        f'model = {form.auto}.from_pretrained("."{own}).eval()\n'
    )
    if log.recipe.task == "question":
        return (
            "# transformers 5 has no pipeline for questions; the two lines below the model are all it takes\n"
            f'{begin}inputs = tokenizer("The question?", "The paragraph.", return_offsets_mapping=True, '
            'return_tensors="pt")\n'
            'offsets = inputs.pop("offset_mapping")[0]\n'
            "with torch.inference_mode():\n    found = model(**inputs)\n"
            "outside = torch.tensor([part != 1 for part in inputs.sequence_ids()])  # the question, [CLS], [SEP]\n"
            "start, end = (row[0].masked_fill(outside, -torch.inf) for row in (found.start_logits, found.end_logits))\n"
            "spans = start[:, None] + end[None, :]\n"
            "allowed = torch.ones_like(spans).triu().tril(29) > 0  # no end before its start, at most 30 tokens\n"
            "spans = spans.masked_fill(~allowed, -torch.inf)\n"
            "first, last = divmod(int(spans.argmax()), len(end))\n"
            'print("The paragraph."[offsets[first][0] : offsets[last][1]])\n'
        )
    return (
        "# transformers has no pipeline for multiple choice\n"
        f'{begin}endings = ["…", "…"]\n'
        'inputs = tokenizer(["What happens first."] * len(endings), endings, padding=True, return_tensors="pt")\n'
        "with torch.inference_mode():\n"
        "    logits = model(**{name: value[None] for name, value in inputs.items()}).logits  # [1, endings]\n"
        "print(logits.softmax(dim=-1))\n"
    )


def _data(log: Log) -> str:
    recipe = log.recipe
    if recipe.data in ELSEWHERE:
        return f"{plain(log.data_name)}, {ELSEWHERE[recipe.data]}."
    return f"{plain(log.data_name)}: sentences written for Inside BERT ({plain(recipe.data)}), Apache-2.0."


def _labels(labels: Sequence[str]) -> str:
    if not labels:
        return ""
    more = f" and {len(labels) - MOST_LABELS:,} more" if len(labels) > MOST_LABELS else ""
    return f"Labels: {', '.join(map(plain, labels[:MOST_LABELS]))}{more}.\n"


def _number(value: float | None, form: str = ".3f") -> str:
    return "none" if value is None else format(value, form)


def _results(log: Log) -> str:
    rows = [(name, value) for name, value in log.metrics.items()]
    if log.baseline:
        rows.append((f"{log.metric} of {log.baseline}", log.baseline_score))
    return _table(("measure", "value"), [(plain(name), _number(value)) for name, value in [*rows, ("loss", log.loss)]])


def _stopped(log: Log) -> str:
    why = {"asked": "stopped by hand", "time": "stopped by the clock"}.get(log.stopped)
    return f"It was {why} after {log.steps:,} of {log.total_steps:,} steps.\n\n" if why else ""


def _looks(log: Log) -> str:
    stride = max(1, -(-len(log.looks) // MOST_LOOKS))
    looks = [*log.looks[:-1:stride], log.looks[-1]] if log.looks else []
    rows = [(f"{look[0]:,.0f}", *(_number(value) for value in look[1:4])) for look in looks]
    return _table(("step", "training loss", "validation loss", f"validation {log.metric}"), rows)


def _recipe(log: Log) -> str:
    told: dict[str, Any] = asdict(log.recipe.settings)
    rows = [(name, _value(value)) for name, value in told.items()]
    rows += [
        ("base model", f"{log.base_title} {log.base_id} {log.base_revision}".strip()),
        ("parameters", f"{log.parameters:,}, of which {log.trainable_parameters:,} were trained"),
        ("computed on", f"{log.device}, {log.precision}, CPU threads: {log.threads}, processes: {log.processes}"),
        ("speed", f"{log.examples_per_second:,.0f} examples/s"),
        ("versions", f"torch {log.versions[0]}, transformers {log.versions[1]}"),
    ]
    return _table(("setting", "value"), [(name.replace("_", " "), plain(value)) for name, value in rows])


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return " + ".join(map(str, value)) or "none"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _limits(log: Log) -> str:
    test = log.sizes[2]
    told = [
        f"{test:,} test examples leave room for chance: an accuracy near one half is known to about "
        f"{98 / max(1, test) ** 0.5:.0f} percentage points either way (95 %)."
        if test
        else "It was not tested.",
        "It knows what its training examples showed; on other kinds of text it may be worse, and as sure.",
        f"Texts were cut at {log.recipe.settings.max_length} tokens in training.",
        "Use it in float32: in other precisions its numbers were not checked.",
        "It was made to learn from. Decide nothing about people with it.",
    ]
    if log.recipe.task == "entities":
        told.append('Only a word\'s first piece was trained; `aggregation_strategy="first"` reads it so.')
    if log.recipe.data == "file":
        told.append("The data is the author's; whether it may be published with the model is theirs to say.")
    return "".join(f"- {line}\n" for line in told)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines) + "\n"
