"""The model card of a kept run: README.md of its folder, what a stranger must know of the model on one page."""

import json
import re
from dataclasses import asdict

from demos.bert.model.catalogue import CATALOGUE
from demos.templates import templates
from demos.training.export.run_log import Log
from demos.training.export.transformers_folder import Form

TEXT, USAGE = templates(__file__, "text_card.txt"), templates(__file__, "text_usage.txt")
LONGEST = 300  # characters of a text that a person wrote
MOST_LABELS, MOST_NOTES, MOST_LOOKS = 50, 12, 24
LICENCE = "apache-2.0"
# The bundled model has no id; all that can be fine-tuned are under this licence.
APACHE = {spec.hub_id for spec in CATALOGUE.values() if spec.is_bert}
BUNDLED_ID = "sentence-transformers/all-MiniLM-L6-v2"  # whose weights the bundled model's are
# The characters that Markdown reads as markup within a line, also in bare links (www., a scheme, an address), and those
# that open a block or end a heading. Colons, dots and underscores within a name are not changed.
_MARKUP = re.compile(
    r"[\\`*\[\]|~$@]|(?<![^\W_])_|_(?![^\W_])|:(?=//)|(?<=mailto):|(?<=xmpp):|(?<=www)\.|(?<!\S)#"
    r"|^[!-%'-/:;=-@\[-`{-~]",  # `<` and `&` are written by their names
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")
# The Hub's names of metrics, by the last word of ours; the others are the same in both.
_KINDS = {"F1": "f1", "MCC": "matthews_correlation", "ρ": "spearmanr", "r": "pearsonr"}
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


def card(log: Log, form: Form, loaded: str) -> str:
    """The card: front matter (what the Hub reads), then what it is, how to load it, data, results, recipe, limits.

    `loaded` is `how_loaded`'s sentence. Texts that a person wrote (labels, file names) can do no harm in it.
    """
    recipe = log.recipe
    ours = recipe.data not in ("file", "hub")  # else the licence is the author's to say
    front = TEXT.front_matter(
        license=LICENCE if ours and log.base_id in APACHE else "",
        tag=form.shape.tag,
        base=_quoted(log.base_id or BUNDLED_ID),
        dataset=_quoted(recipe.hub.split(":")[0]) if recipe.data == "hub" else "",
        own=bool(form.why_own),
        scored=_scored(log),
    )
    stride = max(1, -(-len(log.looks) // MOST_LOOKS))
    looks = [*log.looks[:-1:stride], log.looks[-1]] if log.looks else []
    results: list[tuple[str, float | None]] = list(log.metrics.items())
    started = log.started
    if started.baseline:
        results.append((f"{started.metric} of {started.baseline}", started.baseline_score))
    body = TEXT.body(
        log=log,
        data=plain(log.data_name),
        base=plain(log.base_title),
        labels=list(map(plain, started.labels[:MOST_LABELS])),
        more=max(0, len(started.labels) - MOST_LABELS),
        notes=list(map(plain, log.notes[:MOST_NOTES])),
        loaded=loaded,
        usage=usage_code(log, form),
        tau=form.tau,
        scale=form.scale,
        results=[(plain(name), _number(value)) for name, value in [*results, ("loss", log.loss)]],
        looks=[(f"{look[0]:,.0f}", *(_number(value) for value in look[1:4])) for look in looks],
        settings=[(name.replace("_", " "), plain(value)) for name, value in _recipe(log)],
        earlier=plain(recipe.earlier),
        log_earlier=plain(log.earlier),
        learned_nothing=plain(log.learned_nothing),
        margin=98 / max(1, started.test) ** 0.5,
    )
    return f"{front}\n\n{body}\n"


def _scored(log: Log) -> tuple[str, str, str, list[tuple[str, str, str]]] | None:
    """The scores on the test examples as the Hub's `model-index` has them, its texts quoted; None without any."""
    scores = [(name, value) for name, value in log.metrics.items() if value is not None]
    if not log.started.test or not scores:
        return None
    recipe = log.recipe
    return (
        _quoted(f"{log.data_name}, on {log.base_title}"),
        _quoted(log.data_name),
        _quoted(recipe.hub.split(":")[0] if recipe.data == "hub" else f"inside-bert-{recipe.data}"),
        [
            (_KINDS.get(name.split()[-1], name.replace(" ", "_")), _quoted(name), f"{value:.6g}")
            for name, value in scores
        ],
    )


def usage_code(log: Log, form: Form) -> str:
    """Python lines that load the folder and use the model; they run in the folder that holds it."""
    own = ", trust_remote_code=True" if form.why_own else ""
    more = {"question": (form.tau,), "similarity": (bool(form.scale),)}.get(log.recipe.task, ())
    return getattr(USAGE, log.recipe.task)(form.auto, own, *more)


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"


def _recipe(log: Log) -> list[tuple[str, str]]:
    """The settings of a run and the machine that computed it, row by row."""
    started = log.started
    machine = f"{started.device}, {started.precision}, CPU threads: {started.threads}, processes: {log.processes}"
    return [
        *((name, _value(value)) for name, value in asdict(log.recipe.settings).items()),
        ("base model", f"{log.base_title} {log.base_id} {log.base_revision}".strip()),
        ("parameters", f"{started.parameters:,}, of which {started.trainable_parameters:,} were trained"),
        ("computed on", machine),
        ("speed", f"{log.examples_per_second:,.0f} examples/s"),
        ("versions", f"torch {log.versions[0]}, transformers {log.versions[1]}"),
    ]


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return " + ".join(map(str, value)) or "none"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
