"""Part "Heads for grammar": which head finds subjects, objects, determiners, possessives and earlier mentions."""

from dataclasses import dataclass

import gradio as gr

from demos.bert.attention.grammar import RELATIONS, Relation, measure_grammar, read_sentences
from demos.bert.model.once_cache import OnceCache
from demos.counting import counted
from demos.files import read_beside
from demos.lessons.attention.grammar.figure import accuracy_figure, grammar_code, pairs_html, relations_html
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View, options

OWN = -1  # the direction in which the best head is scored
DIRECTIONS = [("the better one", OWN), ("from dependent", 0), ("to dependent", 1)]
OFFERED = {"few": 0.1, "half": 0.5, "most": 0.9}
SENTENCES = read_sentences(read_beside(__file__, "sentences.txt"))
MAX_CACHED = 8  # models' scores
_scores: OnceCache[int, dict[str, Relation]] = OnceCache(MAX_CACHED)


class Grammar(View):
    tab, order, reads_sentence = "Heads for grammar", 5, False
    look = (
        "Each cell is one head; the number is how often its largest weight is on the correct word. "
        "Compare the best head with the best fixed offset, for example “always the next word”."
    )

    @dataclass(frozen=True)
    class Choices:
        relation: str = options([(name, name) for name in RELATIONS], "object", "Relation", elem_id="grammar-relation")
        direction: int = options(DIRECTIONS, OWN, "Direction of the weight", elem_id="grammar-direction")

    def lay_out(self, at: Layout) -> None:
        with gr.Row(elem_classes="grammar-views picture"):
            with gr.Column(elem_classes="grammar-heads attention-heatmap", min_width=320):
                at.plot("plot", "Accuracy of every head", elem_id="grammar-plot")
            with gr.Column(elem_classes="grammar-best", min_width=320):
                at.control("relation")
                at["best"] = gr.HTML("", elem_id="grammar-best")
                at.look()
                with at.all_controls():
                    at.control("direction")
        at.folds("Prints the accuracies of this relation")

    def draw(self, on: On, c: Choices) -> Shown:
        relations = relations_of(on.services, on.sentence.model)
        relation = relations[c.relation]
        direction = relation.best.direction if c.direction == OWN else c.direction
        return {
            "plot": accuracy_figure(relation, direction),
            "best": relations_html(relations, relation.name, direction, len(SENTENCES)),
            "numbers": lambda: pairs_html(relation, direction, SENTENCES),
            "program": lambda: grammar_code(on.loaded.spec, relation, direction, SENTENCES),
        }


def answer(services: Services, sentence: Sentence) -> Answer:
    """The share offered that is nearest to the offset's, which no model changes, with the figures of this model."""
    relation = relations_of(services, sentence.model)["object"]
    best = relation.best
    key = min(OFFERED, key=lambda name: abs(OFFERED[name] - relation.baseline))
    facts = {"layer": counted(best.layer), "head": counted(best.head), "share": best.accuracy}
    return Answer(keys=frozenset({key}), facts=facts | {"baseline": relation.baseline})


def relations_of(services: Services, model: str) -> dict[str, Relation]:
    """Every relation by its name, as this model's heads score at it."""
    loaded = services.loaded(model)
    return _scores.get((loaded.spec.key, loaded.spec.revision), lambda: measure_grammar(loaded, SENTENCES), 0)
