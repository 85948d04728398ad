"""The program behind a map: prints its trustworthiness and the first points, with public libraries alone."""

from collections.abc import Sequence

from demos.bert.embeddings.maps import NEIGHBOURS, PCA_MAP, TSNE_MAP, Recipe
from demos.bert.embeddings.pooling import CONCAT_LAST_FOUR, Choice, layers_used
from demos.bert.model.catalogue import ModelSpec
from demos.figures.program import encode_lines, model_lines

BUNDLED = ("library", "emotion")
DIGITS = "# The last digit's rounding is multiplied: the map differs a little from machine to machine.\n"
START = """start = PCA({k}, svd_solver="full").fit_transform(units.astype(float))
start = (start / start[:, 0].std()).astype(np.float32)"""
ANYWHERE = "start = np.random.default_rng({seed}).standard_normal((len(units), {k})).astype(np.float32)"


def map_code(spec: ModelSpec, choice: Choice, recipe: Recipe, source: str, own: Sequence[str], nearby: float) -> str:
    """Prints the trustworthiness of this map of sentences; `own` are the reader's.

    `source` is one of BUNDLED; any other value means a file of the reader's.
    """
    needed, where = model_lines(spec)
    table = f"assets/data/{source}.tsv" if source in BUNDLED else "sentences.tsv"
    hint = "a file of Inside BERT" if source in BUNDLED else "your file: topic TAB sentence, a header line"
    column = 0 if source == "emotion" else 1
    k = recipe.dimensions
    start = DIGITS + (ANYWHERE if recipe.seed else START).format(k=k, seed=recipe.seed)
    if recipe.method == PCA_MAP:
        how = f"""pca = PCA({k}, svd_solver="full")
points = pca.fit_transform(units.astype(float))
print("variance", pca.explained_variance_ratio_.round(4))"""
    elif recipe.method == TSNE_MAP:
        how = f"""{start}
points = TSNE({k}, perplexity={nearby:g}, init=1e-4 * start, random_state={recipe.seed}).fit_transform(units)"""
    else:
        how = f"""{start}
points = umap.UMAP(n_neighbors={nearby:g}, n_components={k}, init=start, random_state={recipe.seed},
                   n_jobs=1).fit_transform(units)"""
    umap = "" if recipe.method in (PCA_MAP, TSNE_MAP) else "import umap\n"
    return f"""{needed}import numpy as np
import torch
{umap}from sklearn.decomposition import PCA
from sklearn.manifold import TSNE, trustworthiness
from transformers import AutoModel, AutoTokenizer

{where}
{encode_lines(spec, choice)}

with open("{table}", encoding="utf-8") as file:  # {hint}
    sentences = [line.rstrip("\\n").split("\\t")[{column}] for line in file][1:]
sentences += {list(own)!r}  # the reader's

units = torch.cat([encode(sentences[at:at + 32]) for at in range(0, len(sentences), 32)]).numpy()
{how}
print("trustworthiness", round(trustworthiness(units, points, n_neighbors={NEIGHBOURS}), 3))
"""


def tokens_code(spec: ModelSpec, sentences: Sequence[str], layer: int | str | None, dimensions: int) -> str:
    """Prints the share of the variance on PCA's axes for these sentences' tokens at one layer, or (None) at all."""
    needed, where = model_lines(spec)
    used = "hidden_states"
    if isinstance(layer, int):
        used = f"hidden_states[{layer}:{layer + 1}]"
    elif layer is not None:
        rows = f"hidden_states[{layers_used(layer, spec.num_layers)[0]}:]"
        used = f"torch.cat(list({rows}), dim=-1)[None]" if layer == CONCAT_LAST_FOUR else f"{rows}.sum(dim=0)[None]"
    listed = "".join(f"    {sentence!r},\n" for sentence in sentences)
    return f"""{needed}import torch
from sklearn.decomposition import PCA
from transformers import AutoModel, AutoTokenizer

{where}
tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
model = AutoModel.from_pretrained(name, revision=revision, dtype="float32").eval()

states = []
for sentence in [
{listed}]:
    with torch.inference_mode():
        inputs = tokenizer(sentence, truncation=True, max_length=512, return_tensors="pt")
        hidden_states = torch.stack(model(**inputs, output_hidden_states=True).hidden_states)[:, 0]
    states.append({used})  # [layers, tokens, width]
vectors = torch.cat(states, dim=1).flatten(0, 1)
units = (vectors / vectors.norm(dim=1, keepdim=True)).double().numpy()
pca = PCA({dimensions}, svd_solver="full")
points = pca.fit_transform(units)
print(len(points), "points; variance", pca.explained_variance_ratio_.round(4))
"""
