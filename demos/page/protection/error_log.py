"""The log stays small: a repeated error is logged in full a few times, then counted.

Otherwise a stranger who finds a way to make the app fail could fill the disk with tracebacks.
"""

import logging
import traceback
from collections import OrderedDict
from types import SimpleNamespace

IN_FULL = 3  # times that one error is logged in full
MOST = 500  # different ones remembered; the one that came first goes first


class Counted(logging.Filter):
    """Lets the first IN_FULL records of an error pass; then one line at each tenth, hundredth, thousandth."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: OrderedDict[tuple[object, ...], int] = OrderedDict()

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING or getattr(record, "counted", False):
            return True
        record.counted = True  # a second handler would count it again
        kind, place = _origin(record)
        count = self.counts[record.name, kind, place] = self.counts.get((record.name, kind, place), 0) + 1
        if len(self.counts) > MOST:
            self.counts.popitem(last=False)
        if count <= IN_FULL:
            return True
        if str(count).strip("0") != "1":
            return False
        record.msg, record.args = f"{count:,} times by now: {kind} {place}", ()
        record.exc_info = record.exc_text = None
        return True


def _origin(record: logging.LogRecord) -> tuple[str, str]:
    """The kind of error and where it was raised; without one, the message before its values are filled in."""
    if not record.exc_info or record.exc_info[0] is None:
        return record.levelname, str(record.msg)[:200]
    kind, _, trace = record.exc_info
    places = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(trace)]
    return kind.__name__, places[-1] if places else str(record.msg)[:200]


def print_exc() -> None:
    """`traceback.print_exc` as Gradio calls it, as a record of the log."""
    logging.getLogger("gradio").error("an event failed", exc_info=True)


TRACEBACK = SimpleNamespace(print_exc=print_exc)  # the module `traceback`, as far as Gradio uses it


def keep_log_small() -> None:
    """Filter what goes to standard error: our own log, Gradio's, uvicorn's and asyncio's errors."""
    counted = Counted()
    if logging.lastResort is not None:
        logging.lastResort.addFilter(counted)
    for name in ("asyncio", "uvicorn.error", "uvicorn.asgi", "gradio"):
        logging.getLogger(name).addFilter(counted)
