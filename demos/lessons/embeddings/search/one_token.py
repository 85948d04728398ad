"""The mode of Search that looks for one token: its nearest uses in the list at two layers, as exBERT shows them."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import cache

from markupsafe import Markup

from demos.bert.embeddings.similar_tokens import (
    MOST_TOKENS,
    Common,
    LayerIndex,
    LayerIndexes,
    Nearest,
    common,
    nearest,
    others,
)
from demos.bert.embeddings.vector_cache import Encoded
from demos.bert.embeddings.word_senses import bundled_uses
from demos.bert.model.batches.packing import all_states
from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import Encoding, encode, has_letters
from demos.bert.model.models import LoadedModel
from demos.counting import state_name
from demos.errors import UserError
from demos.figures.program import model_lines
from demos.figures.ranked_lists import Hit, Ranking, ranked_html
from demos.page.view import Shown, Update, limit
from demos.templates import templates
from demos.training.data.lists import Listed, our_library

TEXT = templates(__file__)
QUERY = "She wrote a short note to her teacher."
CHOSEN = 0  # the token that `default_place` chooses
SHOWN = 10  # places of each list


@cache
def our_uses() -> Listed:
    """The library's sentences with their topics, and those of the words with several senses, with these."""
    library = our_library()
    uses = {example.use.sentence: example.sense for example in bundled_uses()}
    together = dict(zip(library.sentences, library.topics, strict=True)) | uses
    return Listed(tuple(together), tuple(together.values()))


def places_of(encoding: Encoding) -> list[int]:
    """The places of the tokens that may be chosen: none of the special ones."""
    return [at for at, special in enumerate(encoding.special_tokens_mask) if not special]


def default_place(encoding: Encoding) -> int:
    """A word with several senses in the bundled sentences, else the longest token; the first of equals.

    Raises UserError if there is no token.
    """
    places = places_of(encoding)
    if not places:
        raise UserError("The query has no token to search for; write a sentence.")
    several = {example.word for example in bundled_uses()}
    tokens = encoding.tokens
    return max(places, key=lambda at: (tokens[at] in several, has_letters(tokens[at]) * len(tokens[at]), -at))


@dataclass(frozen=True)
class LayerResult:
    letter: str
    layer: int
    index: LayerIndex
    nearest: Nearest


def searched(
    indexes: LayerIndexes, loaded: LoadedModel, listed: Listed, query: str, place: int, layers: Sequence[int]
) -> Generator[Encoded, None, Shown]:
    """The outputs of the part, by name; yields the progress while the list is encoded. Raises UserError."""
    encoding = encode(loaded.tokenizer, query, max_length=MOST_TOKENS)
    at = place if place in places_of(encoding) else default_place(encoding)
    (states,) = all_states(loaded.model, [encoding.input_ids])
    results = []
    for letter, layer in zip("AB", layers, strict=True):
        index = yield from indexes.steps(loaded, listed.sentences, layer)
        if not len(index):
            raise UserError("The list has no token to search in.")
        near = nearest(index, states[layer, at], others(index, encoding, at), SHOWN)
        results.append(LayerResult(letter, layer, index, near))
    in_common = common(results[0].index, encoding, at)
    return {
        "rankings": lists_html(loaded, results, in_common, listed, encoding, at),
        "summary": TEXT.one_token_summary(encoding.tokens[at], results, in_common),
        "numbers": lambda: numbers_html(loaded, results, in_common, listed),
        "program": lambda: token_code(loaded.spec, query, at, layers, listed is our_uses()),
        "search_token": token_menu(encoding, place),
    }


def token_menu(encoding: Encoding, place: int) -> Update:
    """The menu of the query's tokens; a place that it does not have is the default."""
    places = places_of(encoding)
    choices = [("chosen automatically", CHOSEN), *((f"{at}: {encoding.tokens[at]}", at) for at in places)]
    return limit(choices=choices, value=place if place in places else CHOSEN)


def _marked(encoding: Encoding, at: int) -> frozenset[tuple[int, int]]:
    start, end = encoding.offsets[at]
    return frozenset({(start, end)}) if end > start else frozenset()


def lists_html(
    loaded: LoadedModel, results: Sequence[LayerResult], in_common: Common, listed: Listed, encoding: Encoding, at: int
) -> Markup:
    """The chosen token in its sentence, and its nearest uses at both layers, each marked in its sentence."""
    index = results[0].index
    sentences, positions = index.sentences, index.positions
    columns = []
    for result, other in zip(results, results[::-1], strict=True):
        hits = []
        for row in result.nearest.rows:
            number = int(sentences[row])
            sentence, rank = listed.sentences[number], int(other.nearest.ranks[row])
            marked = _marked(encode(loaded.tokenizer, sentence, max_length=MOST_TOKENS), int(positions[row]))
            place = int(result.nearest.ranks[row])
            hits.append(
                Hit(
                    key=int(row),
                    sentence=sentence,
                    score=float(result.nearest.cosines[row]),
                    elsewhere=f"{other.letter} {rank}",
                    moved=abs(rank - place) >= 3,
                    tag=listed.topics[number] if listed.topics else "",
                    shared=marked,
                )
            )
        name = f"{result.letter}: {state_name(result.layer)}"
        columns.append(Ranking(name, TEXT.one_token_above(name, result.nearest.rows, in_common), hits))
    shown = Hit(0, encoding.text, 1.0, shared=_marked(encoding, at))
    rows = max(len(ranking.hits) for ranking in columns)
    return TEXT.one_token(shown.pieces, len(index), len(listed.sentences)) + ranked_html(columns, rows)


def numbers_html(loaded: LoadedModel, results: Sequence[LayerResult], in_common: Common, listed: Listed) -> Markup:
    """Every use that is in a list's first places: its cosine and rank at both layers, and its matches."""
    index = results[0].index
    rows = []
    for row in dict.fromkeys(int(row) for result in results for row in result.nearest.rows):
        places = [(result.nearest.cosines[row], int(result.nearest.ranks[row])) for result in results]
        same = (in_common.token[row], in_common.position[row], in_common.left[row], in_common.right[row])
        token = loaded.tokenizer.convert_ids_to_tokens(int(index.lists.ids[index.places[row]]))
        rows.append((token, int(index.positions[row]), listed.sentences[index.sentences[row]], places, same))
    return TEXT.one_token_numbers(rows, results)


def token_code(spec: ModelSpec, query: str, place: int, layers: Sequence[int], ours: bool) -> str:
    """Prints both lists, over the bundled sentences or over sentences.txt (one a line)."""
    needed, source = model_lines(spec)
    lines = (
        """sentences = []
for name, column in (("library.tsv", 1), ("senses.tsv", 2)):  # files of Inside BERT
    with open(f"assets/data/{name}", encoding="utf-8") as file:
        sentences += [line.rstrip("\\n").split("\\t")[column] for line in file][1:]"""
        if ours
        else """with open("sentences.txt", encoding="utf-8") as file:  # your list, one sentence per line
    sentences = [line.strip() for line in file if line.strip()]"""
    )
    return f"""{needed}import torch
from torch.nn.functional import normalize
from transformers import AutoModel, AutoTokenizer

{source}
tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
model = AutoModel.from_pretrained(name, revision=revision, dtype="float32").eval()

{lines}
query, place = {query!r}, {place}


def directions(text, layer):  # [tokens, width]
    inputs = tokenizer(text, truncation=True, max_length={MOST_TOKENS}, return_tensors="pt")
    with torch.inference_mode():
        states = model(**inputs, output_hidden_states=True).hidden_states[layer][0]
    return inputs["input_ids"][0].tolist(), normalize(states, dim=-1)


own, _ = directions(query, 0)
for layer in {list(layers)!r}:
    chosen = directions(query, layer)[1][place]
    uses = []
    for sentence in dict.fromkeys(sentences):
        ids, units = directions(sentence, layer)
        for at, (token, cosine) in enumerate(zip(ids, (units @ chosen).tolist())):
            if token not in tokenizer.all_special_ids and (ids, at) != (own, place):
                uses.append((cosine, tokenizer.convert_ids_to_tokens(token), at, sentence))
    for cosine, token, at, sentence in sorted(uses, key=lambda use: -use[0])[:{SHOWN}]:
        print(f"{{cosine:.4f}}", token, at, sentence)
    print()
"""
