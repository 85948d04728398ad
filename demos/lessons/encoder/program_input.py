"""The programs of the encoder lesson's input, positions and stack: each prints the page's numbers for this input."""

from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import Encoding
from demos.figures.program import begin, model_lines, texts_of


def input_code(spec: ModelSpec, encoding: Encoding, token: int) -> str:
    """Prints the two ways to a word's row, the parts' norms, the LayerNorm, and the difference from the model's own."""
    segment = "layer.token_type_embeddings.weight[inputs['token_type_ids'][0]]" if spec.segments else None
    parts = ["word", "position"] if segment is None else ["word", "segment", "position"]
    lines = [f"segment = {segment}"] if segment else ["# this model has no segment embeddings"]
    return f"""{begin(spec, texts_of(encoding))}layer, token = model.embeddings, {token}
with torch.inference_mode():
    ids = inputs["input_ids"][0]  # [n]
    matrix = layer.word_embeddings.weight  # [V, d]
    one_hot = torch.nn.functional.one_hot(ids[token], len(matrix)).float()  # [V]
    print("one-hot x matrix, the row itself:", (one_hot @ matrix - matrix[ids[token]]).abs().max().item())

    word = matrix[ids]  # [n, d]
    {lines[0]}
    position = layer.position_embeddings.weight[: len(ids)]
    total = {" + ".join(parts)}
    mean = total.mean(dim=1, keepdim=True)
    deviation = ((total - mean) ** 2).mean(dim=1, keepdim=True).add(layer.LayerNorm.eps).sqrt()
    result = (total - mean) / deviation * layer.LayerNorm.weight + layer.LayerNorm.bias
    own = layer(input_ids=ids[None]{", token_type_ids=inputs['token_type_ids']" if segment else ""})[0]

for name, vectors in dict({", ".join(f"{part}={part}" for part in parts)}, sum=total, result=result).items():
    print(f"{{name}}: norm {{vectors[token].norm():.4f}}, begins", [round(x, 4) for x in vectors[token, :4].tolist()])
print(f"mean {{mean[token].item():.4f}}, deviation {{deviation[token].item():.4f}}")
print("largest difference from the model's own:", (result - own).abs().max().item())
"""


def position_code(spec: ModelSpec, length: int, width: int, base: float, *, halves: bool = False) -> str:
    """Prints the sinusoidal table, and for both tables the numbers behind the four requirements."""
    needed, source = model_lines(spec)
    sines, cosines = (f":, :{width // 2}", f":, {width // 2}:") if halves else (":, 0::2", ":, 1::2")
    return f"""{needed}import numpy as np
from transformers import AutoModel


def get_position_encoding(length, d, n):  # the same as below, by loops
    table = np.zeros((length, d))
    for position in range(length):
        for i in range(d // 2):
            angle = position / n ** (2 * i / d)
            table[position, {"i" if halves else "2 * i"}] = np.sin(angle)
            table[position, {"d // 2 + i" if halves else "2 * i + 1"}] = np.cos(angle)
    return table


length, d, n = {length}, {width}, {base:g}
angles = np.arange(length)[:, None] / n ** (np.arange(0, d, 2) / d)  # [length, d / 2]
sinusoids = np.empty((length, d))
sinusoids[{sines}], sinusoids[{cosines}] = np.sin(angles), np.cos(angles)
print(sinusoids[:4, :4].round(4).tolist())

{source}
model = AutoModel.from_pretrained(name, revision=revision, dtype="float32")
learned = model.embeddings.position_embeddings.weight.detach().double().numpy()  # [positions, d]
for title, table in ("sinusoids", sinusoids), ("learned", learned[:length]):
    apart = np.linalg.norm(table[:, None] - table[None], axis=-1)  # [length, length]
    units = table / np.linalg.norm(table, axis=1, keepdims=True)
    offsets = [np.diagonal(units @ units.T, k) for k in range(length)]
    print(title, "smallest distance", round(apart[~np.eye(length, dtype=bool)].min(), 4))
    print(title, "off its offset's mean", max(np.abs(cosines - cosines.mean()).max() for cosines in offsets))
    print(title, "from", round(table.min(), 4), "to", round(table.max(), 4))
print("rows learned", len(learned))
print("loops and matrices differ by", np.abs(get_position_encoding(length, d, n) - sinusoids).max())
"""


def stack_code(spec: ModelSpec, encoding: Encoding, token: int) -> str:
    """Prints one line per state: norm, cosine to the start and to the mean, change by the layer, place on the plane."""
    return f"""{begin(spec, texts_of(encoding))}from sklearn.decomposition import PCA

with torch.inference_mode():
    states = torch.stack(model(**inputs, output_hidden_states=True).hidden_states)[:, 0]  # [layers + 1, n, d]
path, token = states[:, {token}], {token}
plane = PCA(2, svd_solver="full").fit(states.flatten(0, 1).double().numpy())
for layer, x in enumerate(path):
    change = (x - path[layer - 1]).norm() / path[layer - 1].norm() if layer else torch.tensor(float("nan"))
    to_start = torch.cosine_similarity(x, path[0], dim=0)
    to_mean = torch.cosine_similarity(x, states[layer].mean(dim=0), dim=0)
    numbers = [x.norm(), to_start, to_mean, change, *plane.transform(x[None].double().numpy())[0]]
    print(layer, *(f"{{float(number):.4f}}" for number in numbers))
print("variance on the plane", plane.explained_variance_ratio_.round(4).tolist())
"""
