"""The page's counting: layers 1 ... L, heads 1 ... A; state 0 is the embeddings, state l the output of layer l.

Programs, files and the API keep transformers' indices, from 0; so do the values of menus, and links.
"""


def counted(index: int) -> int:
    """The number by which the page calls the layer or head at `index`; a filter too, {{ layer|counted }}."""
    return index + 1


def layer_name(layer: int) -> str:
    """ "layer 1" of the layer at index 0."""
    return f"layer {counted(layer)}"


def head_name(layer: int, head: int) -> str:
    """ "layer 1, head 3" of the head at index 2 of the layer at index 0."""
    return f"{layer_name(layer)}, head {counted(head)}"


def from_zero(*, layer: int | None = None, head: int | None = None) -> str:
    """A program's comment on the indices of a layer and a head: what the page calls them."""
    named = [f"{name} {counted(at)}" for name, at in (("layer", layer), ("head", head)) if at is not None]
    return f"indices from 0; on the page: {', '.join(named)}"


def state_name(state: int) -> str:
    """The hidden state 0..L in a sentence: "state 0 (embeddings)", "layer 3"; a filter too."""
    return f"layer {state}" if state else "state 0 (embeddings)"


def state_names(num_layers: int) -> list[str]:
    """The hidden states 0..L as the page speaks of them."""
    return ["embeddings", *map(layer_name, range(num_layers))]
