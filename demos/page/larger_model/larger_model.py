"""Whether BERT base can be had beside the bundled model: on this machine, or from the Hub, where that answers."""

import threading
import time
from collections.abc import Callable, Mapping

from huggingface_hub import constants
from huggingface_hub.utils import get_session
from markupsafe import Markup
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from demos.bert.model.catalogue import PREFERRED, ModelSpec
from demos.bert.model.fetching import PROBE_SECONDS
from demos.bert.model.models import at_hand
from demos.bert.pretraining.heads import Pretrained
from demos.templates import templates

TEXT = templates(__file__)
ADDRESS = "/larger_model.json"
HERE, FETCHED, ASKING, NOWHERE = "here", "fetched", "asking", ""  # on this disk; from the Hub; not known yet; no way
FRESH, SOON = 60.0, 10.0  # seconds for which an answer of the Hub counts, and none


def small_model_html(pretrained: Pretrained, catalogue: Mapping[str, ModelSpec]) -> Markup:
    """The sentence under answers of this app's own heads, with the button; "" for another model's heads.

    The button is in the page always, and shown by script.js where the model can be had: drawings are kept, and
    whether the Hub answers changes.
    """
    tokens = pretrained.about.get("tokens")
    return Markup(TEXT.small(int(tokens), catalogue.get(PREFERRED))) if tokens else Markup()


def hub_answers() -> bool:
    """Whether the Hub answers just now; waits for PROBE_SECONDS at most."""
    try:
        get_session().head(constants.ENDPOINT, timeout=PROBE_SECONDS)
    except Exception:  # the client raises many kinds; each means the same here
        return False
    return True


class LargerModel:
    """The state of PREFERRED for the page, which never waits: one thread queries the Hub in the background."""

    def __init__(self, catalogue: Mapping[str, ModelSpec], ask: Callable[[], bool] = hub_answers) -> None:
        self._spec = catalogue.get(PREFERRED)
        self._ask = ask
        self._lock = threading.Lock()
        self._answered: bool | None = None
        self._until = 0.0  # when the answer grows old
        self._is_asking = False

    def state(self) -> str:
        """HERE, FETCHED, ASKING or NOWHERE. Starts a query of the Hub if its last answer is old; never offline."""
        if self._spec is None:
            return NOWHERE
        if at_hand(self._spec):
            return HERE
        if constants.HF_HUB_OFFLINE:
            return NOWHERE
        with self._lock:
            if not self._is_asking and time.monotonic() >= self._until:
                self._is_asking = True
                threading.Thread(target=self._find_out, name="ask the Hub", daemon=True).start()
            if self._answered is None:
                return ASKING
            return FETCHED if self._answered else NOWHERE

    def _find_out(self) -> None:
        answered = self._ask()
        with self._lock:
            self._answered, self._is_asking = answered, False
            self._until = time.monotonic() + (FRESH if answered else SOON)


class LargerModelRoute:
    """ASGI middleware: {"state": ...} for GET of ADDRESS."""

    def __init__(self, app: ASGIApp, larger: LargerModel) -> None:
        self.app, self.larger = app, larger

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "GET" and scope["path"] == ADDRESS:
            answer = JSONResponse({"state": self.larger.state()}, headers={"cache-control": "no-store"})
            await answer(scope, receive, send)
        else:
            await self.app(scope, receive, send)
