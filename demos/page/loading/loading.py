"""A model of the Hub is fetched while the page shows the progress."""

from collections.abc import Iterator
from concurrent.futures import wait

from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.models import ModelStore
from demos.page.progress import BETWEEN
from demos.templates import templates

TEXT = templates(__file__)
AT_ONCE = 16  # readers who wait for a model; they block no place in the queue of drawings


def loading(store: ModelStore, spec: ModelSpec) -> Iterator[str]:
    """Yield the progress until the model is in memory; end at once if it is there already, or needs no Hub.

    Raises UserError as `get`.
    """
    if not spec.hub_id or store.ready(spec.key):
        return
    coming = store.begin(spec.key)
    while not wait([coming], BETWEEN).done:
        yield TEXT.loading(spec, store.progress(spec.key))
    yield ""
    coming.result()
