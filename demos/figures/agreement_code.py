"""A program that prints the picked choice's Spearman correlation, with transformers and scipy alone."""

from __future__ import annotations

from demos.bert.catalogue import ModelSpec
from demos.bert.pooling import Choice
from demos.figures.code import encode_lines, model_lines
from demos.training.data.pairs import HUB_FILE, HUB_REPO, HUB_REVISION, Form


def rows_lines(path: str, form: Form) -> tuple[str, str]:
    """(imports, the lines that fill `first`, `second` and `scores` from the file at `path`)."""
    columns = "".join(
        f"{name} = [{made.format(column)} for row in rows]\n"
        for name, column, made in zip(
            ("first", "second", "scores"), form.columns, ("row[{!r}]", "row[{!r}]", "float(row[{!r}])"), strict=True
        )
    )
    if path == HUB_FILE:
        fetch = (
            f"path = hf_hub_download({HUB_REPO!r}, {HUB_FILE!r}, repo_type='dataset',\n"
            f"                       revision={HUB_REVISION!r})\n"
            "rows = [json.loads(line) for line in gzip.open(path, 'rt', encoding='utf-8')]\n"
        )
        return "import gzip\nimport json\n\nfrom huggingface_hub import hf_hub_download\n", fetch + columns
    if form.kind == "jsonl":
        read = (
            f"with open({path!r}, encoding='utf-8-sig') as file:\n"
            "    rows = [json.loads(line) for line in file if line.strip()]\n"
        )
        return "import json\n\n", read + columns
    quoting = "" if form.quoted else ", quoting=csv.QUOTE_NONE"
    read = (
        f"with open({path!r}, encoding='utf-8-sig', newline='') as file:\n"
        f"    rows = [row for row in csv.reader(file, delimiter={form.delimiter!r}{quoting}) if row]\n"
    )
    return "import csv\n\n", read + (
        "rows = rows[1:]  # the first has the columns' names\n" if form.header else ""
    ) + columns


def agreement_code(spec: ModelSpec, choice: Choice, path: str, form: Form) -> str:
    """Prints Spearman's rho for this choice over the pairs in the file at `path`."""
    imports, rows = rows_lines(path, form)
    needed, source = model_lines(spec)
    return f"""{imports}{needed}import torch
from scipy.stats import spearmanr
from transformers import AutoModel, AutoTokenizer

{source}
{encode_lines(spec, choice)}

{rows}
cosines = []
for at in range(0, len(scores), 32):
    a, b = encode(first[at:at + 32]), encode(second[at:at + 32])
    cosines += torch.cosine_similarity(a.double(), b.double()).tolist()
print(round(spearmanr(cosines, scores).statistic, 3))
"""
