"""Part "Heads for grammar": which head finds subjects, objects, determiners, possessives and earlier mentions."""

from __future__ import annotations

from functools import partial

import gradio as gr

from demos.bert.attention.grammar import RELATIONS
from demos.lessons.attention.grammar.figure import accuracy_figure
from demos.lessons.attention.grammar.program import grammar_code
from demos.lessons.attention.grammar.scores import SENTENCES, relations_of
from demos.lessons.attention.grammar.text import pairs_html, relations_html
from demos.page.folds import all_controls, folds
from demos.page.lesson import Page, Part
from demos.page.services import Sentence, Services

OWN = -1  # the direction in which the best head is scored


def show(services: Services, sentence: Sentence, name: str, direction: int) -> tuple[object, ...]:
    """One relation's accuracies, all relations' best heads, each pair of the relation, and the program."""
    relations = relations_of(services, sentence.model)
    relation = relations.get(name, relations[RELATIONS[0]])
    direction = relation.best.direction if direction not in (0, 1) else int(direction)
    return (
        accuracy_figure(relation, direction),
        relations_html(relations, relation.name, direction, len(SENTENCES)),
        lambda: pairs_html(relation, direction, SENTENCES),
        lambda: grammar_code(services.loaded(sentence.model).spec, relation, direction, SENTENCES),
    )


def build(page: Page) -> None:
    """The menu of relations, the accuracy of all heads at the chosen one, and the best head of each relation."""
    with gr.Row(elem_classes="grammar-views picture"):
        with gr.Column(elem_classes="grammar-heads attention-heatmap", min_width=320):
            plot = gr.Plot(label="Accuracy of every head", show_label=False, elem_id="grammar-plot")
        with gr.Column(elem_classes="grammar-best", min_width=320):
            name = gr.Radio(list(RELATIONS), value="object", label="Relation", elem_id="grammar-relation")
            best = gr.HTML("", elem_id="grammar-best")
            page.show_look()
            with all_controls(page, __file__):
                direction = gr.Radio(
                    [("the better one", OWN), ("from dependent", 0), ("to dependent", 1)],
                    value=OWN,
                    label="Direction of the weight",
                    elem_id="grammar-direction",
                )
    numbers, program = folds(__file__, "Prints the accuracies of this relation")
    page.keep(relation=name, direction=direction)
    page.draw(partial(show, page.services), [name, direction], [plot, best, numbers, program], show_progress="hidden")


PART = Part(
    tab="Heads for grammar",
    look="Each cell is one head; the number is how often its largest weight is on the correct word. "
    "Compare the best head with the best fixed offset, for example “always the next word”.",
    build=build,
    reads_sentence=False,
    order=5,
)
