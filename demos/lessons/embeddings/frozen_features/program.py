"""The recipe as a program with transformers and scikit-learn alone; it prints the numbers on the page."""

from demos.bert.embeddings.frozen_features import CONCAT_ALL, DIGITS
from demos.bert.embeddings.pooling import CONCAT_LAST_FOUR, POOLER, SUM_ALL, SUM_LAST_FOUR, Choice, layers_used
from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import MAX_TOKENS
from demos.figures.program import mask_lines, model_lines
from demos.training.data.labelled_sentences import EMOTIONS, FILMS, HELD_OUT, MAX_ROWS, OWN_SPLIT, TWO
from demos.training.frozen_classifier import MAX_ITERATIONS, RAW_C, STANDARDISED_C

OURS = {EMOTIONS: "assets/data/emotion.tsv", TWO: "assets/data/emotion.tsv", FILMS: "assets/data/films.tsv"}
POOLED = {
    "cls": "states[:, 0]",
    "mean": "(states * mask).sum(dim=1) / mask.sum(dim=1)",
    "mean_no_special": "(states * words).sum(dim=1) / words.sum(dim=1)",
    "max": "states.masked_fill(mask == 0, -torch.inf).amax(dim=1)",
    POOLER: "model.pooler(states)",
}


def features_code(
    spec: ModelSpec,
    choice: Choice,
    source: str,
    split: str,
    standardise: bool,
    folds: int = 5,
    masks: bool = False,
) -> str:
    """Prints C, the cross-validated and the held-out accuracy of this choice, and of guessing.

    It reads one of the project's TSV files (columns text, label, split), or, of other data, one of two columns without
    names; one with its own split has the three named columns, too. `masks`: whether a text has [MASK], in any letters.
    """
    needed, source_lines = model_lines(spec)
    scale = "StandardScaler(), " if standardise else ""
    imported = "from sklearn.preprocessing import StandardScaler\n" if standardise else ""
    grid = list(STANDARDISED_C if standardise else RAW_C)
    regex = "import re\n" if masks else ""
    return f"""import csv
{regex}
import numpy as np
{needed}import torch
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
{imported}from transformers import AutoModel, AutoTokenizer

{_rows(source, split == OWN_SPLIT)}
{mask_lines("texts") if masks else ""}labels = np.array(labels)
{_split(split)}

{source_lines}
tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
model = AutoModel.from_pretrained(name, revision=revision, dtype="float32").eval()  # frozen: nothing below changes it


def vectors_of(batch):
    inputs = tokenizer(batch, padding=True, truncation=True, max_length={MAX_TOKENS}, return_tensors="pt")
    ids = torch.tensor([tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id])
    words = torch.isin(inputs["input_ids"], ids, invert=True)[..., None]  # without [CLS], [SEP] and padding
    mask = inputs["attention_mask"][..., None]  # 0 for padding
    with torch.inference_mode():
        hidden = model(**inputs, output_hidden_states=True).hidden_states

        def pooled(states):  # [sentences, tokens, width] -> [sentences, width]
            return {POOLED[choice.pooling]}

        return {_vector(choice, spec.num_layers)}


order = sorted(range(len(texts)), key=lambda at: len(texts[at]))  # alike in length, so little padding
parts = [vectors_of([texts[at] for at in order[k:k + 32]]).numpy() for k in range(0, len(order), 32)]
vectors = np.concatenate(parts)[np.argsort(order)].round({DIGITS})  # float32's noise is no feature

classifier = make_pipeline({scale}LogisticRegression(max_iter={MAX_ITERATIONS}))
folds = StratifiedKFold({folds}, shuffle=True, random_state=0)
search = GridSearchCV(classifier, {{"logisticregression__C": {grid}}}, cv=folds)
search.fit(vectors[train], labels[train])  # the scaler and C see the training part alone
guess = DummyClassifier(strategy="most_frequent").fit(vectors[train], labels[train])
print("C", search.best_params_["logisticregression__C"])
print("cross-validated", round(search.best_score_, 3))
print("held out", round(search.score(vectors[test], labels[test]), 3))
print("guessing", round(guess.score(vectors[test], labels[test]), 3))
"""


def _rows(source: str, splits: bool) -> str:
    """The lines that read `texts` and `labels`."""
    path = OURS.get(source, "train.tsv")
    if source in OURS:
        condition = ' if row["label"] in ("joy", "sadness")' if source == TWO else ""
        return f"""with open({path!r}, encoding="utf-8", newline="") as file:
    rows = [row for row in csv.DictReader(file, delimiter="\\t", quoting=csv.QUOTE_NONE){condition}]
texts, labels = [row["text"] for row in rows], [row["label"] for row in rows]"""
    if splits:
        return f"""first = {{}}  # each sentence once, so that none is learned from and scored on
with open({path!r}, encoding="utf-8", newline="") as file:
    for row in csv.DictReader(file, delimiter="\\t", quoting=csv.QUOTE_NONE):  # columns text, label, split
        first.setdefault(" ".join(row["text"].casefold().split()), row)
rows = list(first.values())[:{MAX_ROWS}]
texts, labels = [row["text"].strip() for row in rows], [row["label"] for row in rows]"""
    return f"""first = {{}}  # each sentence once, so that none is learned from and scored on
with open({path!r}, encoding="utf-8", newline="") as file:
    for text, label in csv.reader(file, delimiter="\\t", quoting=csv.QUOTE_NONE):  # two columns without names
        first.setdefault(" ".join(text.casefold().split()), (text.strip(), label))
texts, labels = zip(*list(first.values())[:{MAX_ROWS}])"""


def _split(split: str) -> str:
    """The lines that make `train` and `test`, row numbers."""
    if split == OWN_SPLIT:
        return """held_out = "test" if any(row["split"] == "test" for row in rows) else "validation"
test = np.array([row["split"] == held_out for row in rows]).nonzero()[0]
train = np.setdiff1d(np.arange(len(rows)), test)"""
    return f"train, test = train_test_split(np.arange(len(texts)), test_size={HELD_OUT}, random_state={split}, \
stratify=labels)"


def _vector(choice: Choice, num_layers: int) -> str:
    """The expression of the vectors, from `hidden` and `pooled`."""
    if isinstance(choice.layer, int):
        return f"pooled(hidden[{choice.layer}])"
    if choice.layer == CONCAT_ALL:
        return "torch.cat([pooled(states) for states in hidden], dim=1)"
    first = layers_used(choice.layer, num_layers)[0]
    if choice.layer == CONCAT_LAST_FOUR:
        return f"torch.cat([pooled(states) for states in hidden[{first}:]], dim=1)"
    assert choice.layer in (SUM_ALL, SUM_LAST_FOUR)
    return f"pooled(torch.stack(hidden[{first}:]).sum(dim=0))"
