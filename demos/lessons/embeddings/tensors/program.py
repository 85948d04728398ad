"""The whole way as a program of pandas, transformers and scikit-learn, a paragraph a step; it prints every shape."""

from demos.bert.embeddings.first_reviews import REVIEWS as FIRST_REVIEWS
from demos.bert.embeddings.first_reviews import SHAPES
from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import MAX_TOKENS
from demos.figures.program import model_lines
from demos.training.data.labelled_sentences import FILMS, MAX_ROWS, REVIEWS, SST2
from demos.training.data.sst2 import URL
from demos.training.frozen_classifier import MAX_ITERATIONS

PATHS = {FILMS: "assets/data/films.tsv", REVIEWS: "assets/data/sentiment.tsv"}
FIVE = "five"  # the first rows of SST-2, as a source
GUIDE = "train.tsv"  # of a reader's own; two columns without names: the text and its label

LINES = {  # by step; each is a whole paragraph of the program
    "ids": f'ids = [tokenizer(text, truncation=True, max_length={MAX_TOKENS})["input_ids"] for text in texts]',
    "padded": "n = max(len(row) for row in ids)\n"
    "padded = np.array([row + [tokenizer.pad_token_id] * (n - len(row)) for row in ids])",
    "mask": "attention_mask = np.where(padded != tokenizer.pad_token_id, 1, 0)",
    "states": """def states_of(batch, mask):
    with torch.inference_mode():
        return model(torch.tensor(batch), attention_mask=torch.tensor(mask)).last_hidden_state

last_hidden_state = torch.cat([states_of(padded[k:k + 32], attention_mask[k:k + 32])
                               for k in range(0, len(padded), 32)])""",
    "slice": "features = last_hidden_state[:, 0, :].numpy()",
    "table": "table = pd.DataFrame(features).assign(label=labels)",
    "split": "train_features, test_features, train_labels, test_labels = train_test_split(\n"
    "    features, labels, test_size={held_out}, random_state=0, stratify=labels)",
    "regression": f"classifier = LogisticRegression(max_iter={MAX_ITERATIONS}).fit(train_features, train_labels)",
    "folds": "folds = StratifiedKFold({folds}, shuffle=True, random_state=0)\n"
    "scores = cross_val_score(classifier, train_features, train_labels, cv=folds)",
    "score": 'guess = DummyClassifier(strategy="most_frequent").fit(train_features, train_labels)\n'
    "accuracy = classifier.score(test_features, test_labels)\n"
    "guessing = guess.score(test_features, test_labels)",
}
STEPS = ("texts", *LINES)
PRINTED = {
    "texts": "len(texts), len(labels)",
    "ids": "len(ids), min(map(len, ids)), max(map(len, ids))",
    "padded": "padded.shape",
    "mask": "attention_mask.shape, attention_mask.sum()",
    "states": "tuple(last_hidden_state.shape)",
    "slice": "features.shape",
    "table": "table.shape",
    "split": "train_features.shape, test_features.shape",
    "regression": "classifier.coef_.shape, classifier.intercept_.shape",
    "folds": "scores.shape, scores.round(3).tolist(), round(scores.mean(), 3)",
    "score": "round(accuracy, 3), round(guessing, 3)",
}


def lines_of(step: str, source: str, folds: int, held_out: int) -> str:
    """The step's own lines; `held_out` is a number of rows."""
    if step == "texts":
        return _rows(source)
    return LINES[step].replace("{folds}", str(folds)).replace("{held_out}", str(held_out))


def tensors_code(spec: ModelSpec, source: str, folds: int, held_out: int) -> str:
    """The program: prints each step's name and shape, and the scores; five rows are too few for a classifier."""
    needed, model = model_lines(spec)
    steps = SHAPES if source == FIVE else STEPS
    paragraphs = [f'{lines_of(step, source, folds, held_out)}\nprint("{step}", {PRINTED[step]})' for step in steps]
    if source == FIVE:
        return f"""{needed}import numpy as np
import pandas as pd
import torch
from transformers import AutoModel, AutoTokenizer

{model}
tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
model = AutoModel.from_pretrained(name, revision=revision, dtype="float32").eval()

{(chr(10) * 2).join(paragraphs)}
"""
    return f"""import csv

{needed}import numpy as np
import pandas as pd
import torch
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score, train_test_split
from transformers import AutoModel, AutoTokenizer

{model}
tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
model = AutoModel.from_pretrained(name, revision=revision, dtype="float32").eval()

{(chr(10) * 2).join(paragraphs)}
"""


def _rows(source: str) -> str:
    """The lines that read `texts` and `labels`."""
    if source == FIVE:
        listed = "".join(f"    ({text!r}, {label}),\n" for text, label in FIRST_REVIEWS)
        return f"rows = [  # the first of SST-2 (Socher et al. 2013)\n{listed}]\ntexts, labels = zip(*rows)"
    if source in PATHS:
        read = f'rows = pd.read_csv("{PATHS[source]}", sep="\\t", quoting=csv.QUOTE_NONE)'
    else:
        path = URL if source == SST2 else GUIDE  # pandas reads a file or an address
        read = f"""rows = pd.read_csv("{path}", sep="\\t", quoting=csv.QUOTE_NONE, names=["text", "label"])
rows["text"] = rows["text"].str.strip()
rows = rows[~rows["text"].str.casefold().str.split().str.join(" ").duplicated()][:{MAX_ROWS}]"""
    return f'{read}\ntexts, labels = rows["text"].tolist(), rows["label"].to_numpy()'
