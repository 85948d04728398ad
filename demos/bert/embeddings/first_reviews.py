"""The first five film reviews of SST-2's training file, as Alammar's guide shows them, and the shapes it gives.

Reviews and labels: Socher et al. 2013, in the file that the guide's notebook loads
(github.com/clairett/pytorch-sentiment-classification). Shapes: Jay Alammar 2019, "A Visual Guide to Using BERT for the
First Time", pictures of the padded matrix and of the last hidden state; the score: its notebook, cell 22 (0.824).
"""

REVIEWS = (
    ("a stirring , funny and finally transporting re imagining of beauty and the beast and 1930s horror films", 1),
    ("apparently reassembled from the cutting room floor of any given daytime soap", 0),
    ("they presume their audience wo n't sit still for a sociology lesson", 0),
    ("this is a visually stunning rumination on love , memory , history and the war between art and commerce", 1),
    ("jonathan parker 's bartleby should have been the be all end all of the modern office anomie films", 1),
)
TEXTS = tuple(text for text, _ in REVIEWS)
ROWS, TOKENS, WIDTH = 2_000, 66, 768  # of the guide's last hidden state, by DistilBERT
SHAPES: dict[str, tuple[int, ...]] = {  # of the guide, by step
    "texts": (ROWS, 2),
    "ids": (ROWS,),
    "padded": (ROWS, TOKENS),
    "mask": (ROWS, TOKENS),
    "states": (ROWS, TOKENS, WIDTH),
    "slice": (ROWS, WIDTH),
    "table": (ROWS, WIDTH + 1),
}


def shapes_of(m: int, n: int, d: int) -> dict[str, tuple[int, ...]]:
    """The same for m sentences, the longest of n tokens, and a model of width d."""
    return {
        "texts": (m, 2),
        "ids": (m,),
        "padded": (m, n),
        "mask": (m, n),
        "states": (m, n, d),
        "slice": (m, d),
        "table": (m, d + 1),
    }
