"""All that this app changes in Gradio, uvicorn and asyncio while it runs: attributes, and passages of Gradio's scripts.

A move to another version of them begins here. Each entry says what it is for, in which version it was read, and by
which checks the app sees at its start whether it still fits. Nothing else in the app changes these libraries
(tests/page/test_patches.py holds it to that); a replacement is in the file of its purpose. Inner parts that are
only read are listed in inner_parts.py.
"""

import asyncio
import re
import traceback
from collections import defaultdict
from inspect import iscoroutinefunction
from tempfile import NamedTemporaryFile
from typing import Any

from demos.figures.axes import plotly_script
from demos.page.patches.mend import Mend
from demos.page.patches.patch import Patch, at, has, sets, takes, uses

GRADIO, UVICORN, STARLETTE, PYTHON = "Gradio 6.31.0", "uvicorn 0.54.0", "Starlette 1.10.0", "Python 3.11 on Linux"


def _is_selector_loop(_: Any) -> bool:
    """Whether uvicorn runs asyncio's own selector loop: not on Windows, nor where uvloop is installed."""
    from uvicorn.loops.auto import auto_loop_factory

    return issubclass(auto_loop_factory(), asyncio.SelectorEventLoop)  # type: ignore[arg-type]


PATCHES = (
    Patch(
        "gradio.state_holder",
        "SessionState",
        "a visit is kept without a copy of the whole page: 100 ms and some megabytes less for each",
        GRADIO,
        (
            has("__init__(self, blocks)", "__setitem__(self, key, value)"),
            has("_update_config(self, key)", "_update_value_in_config(self, key, value)"),
            sets(
                *("blocks_config", "config_values", "state_data", "_state_ttl", "is_closed", "STATE_TTL_WHEN_CLOSED"),
                alone=True,
            ),
            at("gradio.blocks:BlocksConfig", sets("blocks", "fns", "fn_id", "renderables")),
        ),
        "demos.page.patches.gradio_sessions:Session",
    ),
    Patch(
        "gradio.routes",
        "StateHolder",
        "where too many visits are kept, the one goes whose page is closed",
        GRADIO,
        (has("update(self, session_id)"), sets("capacity", "session_data", "time_last_used", "lock")),
        "demos.page.patches.gradio_sessions:Sessions",
    ),
    Patch(
        "gradio.queueing",
        "Queue",
        "events and answers are bounded for each session, and sessions take turns",
        GRADIO,
        (
            has("start(self)", "push(self, body, request, username)", "get_events(self)"),
            has("broadcast_estimations(self, concurrency_id, after)", "send_message(self, event, event_message)"),
            has("process_events(self, events, batch, begin_time, fn)", "remove_from_queue(self, event_id)"),
            has("clean_events(self, session_hash, event_id)"),
            sets("pending_messages_per_session", "pending_event_ids_session", "event_ids_to_events"),
            sets("event_queue_per_concurrency_id", "max_size", "blocks", "stopped"),
            at("gradio.queueing:Event", sets("session_hash", "_id", "fn", "concurrency_id", "alive")),
            at("gradio.server_messages:ProcessCompletedMessage", lambda kind: "output" in kind.model_fields),
            at(
                "gradio.queueing:EventQueue",
                sets("queue", "concurrency_id", "concurrency_limit", "current_concurrency"),
            ),
            at("gradio.utils:LRUCache", sets("max_size")),
        ),
        "demos.page.protection.event_queue:BoundedQueue",
    ),
    Patch(
        "gradio.queueing",
        "traceback",
        "an error that comes again and again is written to the log a few times, then counted",
        GRADIO,
        (lambda standing: standing is traceback, uses("gradio.queueing", "traceback", "print_exc")),
        "demos.page.protection.error_log:TRACEBACK",
    ),
    Patch(
        "gradio.blocks:Blocks",
        "preprocess_data",
        "a value that no field of the page can hold is answered by one sentence, and null by the field's default",
        GRADIO,
        (takes("self, block_fn, inputs, state, explicit_call"), iscoroutinefunction),
        "demos.page.protection.wrong_values:checked",
    ),
    Patch(
        "gradio.processing_utils",
        "async_ssrf_protected_download",
        "nothing is fetched from an address that a reader gives for a file",
        GRADIO,
        (takes("url, cache_dir"), iscoroutinefunction),
        "demos.page.protection.wrong_values:fetch_nothing",
    ),
    Patch(
        "gradio.components.file:File",
        "_process_single_file",
        "an event that reads a file leaves no empty file behind",
        GRADIO,
        (takes("self, f"),),
        "demos.page.protection.uploading:path_alone",
    ),
    Patch(
        "gradio.route_utils",
        "NamedTemporaryFile",
        "what was written of an upload that broke off is deleted",
        GRADIO,
        (lambda standing: standing is NamedTemporaryFile,),
        "demos.page.protection.uploading:named_file",
    ),
    Patch(
        "gradio.routes:file_upload_statuses",
        "_statuses",
        "how far uploads are is noted for the newest alone",
        GRADIO,
        (lambda standing: isinstance(standing, dict),),
        "demos.page.protection.uploading:STATUSES",
    ),
    Patch(
        "gradio.routes:file_upload_statuses",
        "_signals",
        "whether an upload has begun is noted for the newest alone",
        GRADIO,
        (lambda standing: isinstance(standing, defaultdict) and standing.default_factory is asyncio.Event,),
        "demos.page.protection.uploading:SIGNALS",
    ),
    Patch(
        "gradio.route_utils:CustomCORSMiddleware",
        "is_valid_origin",
        "no page of another origin may read an answer of this app in a reader's browser",
        GRADIO,
        (takes("self, request_headers"),),
        "demos.page.protection.origin_guard:is_own_page",
    ),
    Patch(
        "gradio.routes:App",
        "api_info",
        "the description of the API names the host at which it was asked for, not the first one's for all",
        GRADIO,
        (at("gradio.routes:App", sets("api_info")),),
        "demos.page.protection.addresses:API_INFO_OF_REQUEST",
    ),
    Patch(
        "uvicorn.protocols.http.auto",
        "AutoHTTPProtocol",
        "connections are bounded below the limit of open files",
        UVICORN,
        (
            has("connection_made(self, transport)"),
            sets("connections", "transport", "cycle"),
            at("uvicorn.protocols.http.h11_impl:RequestResponseCycle", sets("response_complete")),
        ),
        "demos.page.protection.connections:BoundedProtocol",
    ),
    Patch(
        "asyncio.selector_events:BaseSelectorEventLoop",
        "_accept_connection",
        "connections are accepted a few at a time, so that old ones can be closed for new ones",
        PYTHON,
        (takes("self, protocol_factory, sock, sslcontext, server, backlog, ..."), _is_selector_loop),
        "demos.page.protection.connections:accept_few",
    ),
)

MENDS = (
    Mend(
        "Blocks",
        "what was typed is in the page's link before the page loads itself anew, as it does where an answer was lost",
        GRADIO,
        re.compile(rb"(clearInterval\(\w+\),\w+=null,)window\.location\.reload\(\)"),
        rb"\1insideBert.link.loadAnew()",
    ),
    Mend(
        "core",
        "what is typed or chosen in the first moment of a part or a fold stays, and is not set back",
        GRADIO,
        re.compile(
            rb"(await this\.(#\w)\((\w+)\.id,\3\).{1,4000}?requestAnimationFrame\(\w+\)\);for\(let (\w+) of \w+\))"
            rb"(this\.#\w\(\4\))",
            re.DOTALL,
        ),
        rb"\1await this.\2(\4.id,\4),\5",
    ),
    Mend(
        "Plot",
        "a new value is drawn once, into the figure that is there, and not a second time into another",
        GRADIO,
        re.compile(rb"\((\w+)(!==\w+\(\w+\)\|\|)(\w+!==\w+\(\w+\)\|\|\w+!==\w+\(\w+\))\)&&"),
        rb"(\1\2\1!==`plotly`&&(\3))&&",
    ),
    Mend(
        "Plot",
        "Plotly, a second of work, is read when a figure comes near the screen (demos/page/plots.js)",
        GRADIO,
        re.compile(rb"plotly:\(\)=>(\w+\(\(\)=>import\(`\./PlotlyPlot-[^)]*\).*?,import\.meta\.url\))"),
        rb"plotly:()=>insideBert.plots.areNear().then(()=>\1)",
    ),
    Mend(
        "PlotlyPlot",
        "Plotly comes with the kinds of trace that the page draws, a third of the whole (assets/vendor/plotly)",
        GRADIO,
        re.compile(
            rb"var (\w+)=\w+\(\w+\(\(\(\w+,\w+\)=>\{\(function\(.*return window\.Plotly=\w+,\w+\}\)\}\)\)\(\)\)",
            re.DOTALL,
        ),
        plotly_script().encode().replace(b"\\", rb"\\") + rb";var \1={default:window.Plotly=Plotly}",
    ),
    Mend(
        "index",
        "a stream that breaks while nothing is asked, as in a browser that sleeps, is opened again by the next event",
        GRADIO,
        re.compile(rb"(\w+)\.open=!0;let (\w+)=null,(.{1,2000}?)\2\.onerror=async function\((\w+)\)\{", re.DOTALL),
        rb"\1.open=!0;let \2=null,\3\2.onerror=async function(\4){\1.open=!1;",
    ),
    Mend(
        "index",
        "what was asked while the server closed a stream gets another one; the page would wait for ever",
        GRADIO,
        re.compile(rb"if\((\w+)\.msg===`close_stream`\)\{(\w+\(\w+,(\w+)\.abort_controller\));return\}"),
        rb"if(\1.msg===`close_stream`){\2;\3.unclosed_events.size&&\3.open_stream();return}",
    ),
    Mend(
        "index",
        "an answer that comes before its event's number is not waited for again by one more stream",
        GRADIO,
        re.compile(
            rb"(\w+) in (\w+)&&\((\2\[\1\])(\.forEach\(\w+=>\w+\(\w+\)\),delete \2\[\1\]\),\w+\[\1\]=\w+,)"
            rb"(\w+)\.add\(\1\),(\w+\.open\|\|)"
        ),
        rb"\5.add(\1),\1 in \2&&(\3.some(one=>one.msg===`process_completed`)&&\5.delete(\1),\3\4\6!\5.size||",
    ),
    Mend(
        "index",
        "no stream waits for another in the browser's cache, where all have one address",
        GRADIO,
        re.compile(rb"(this\.stream_instance=\w+\(\w+\.toString\(\),\{)"),
        rb"\1cache:`no-store`,",
    ),
    Mend(
        "statustracker",
        "a screen reader hears a word where an event is over, not the name of a translation that Gradio lacks",
        GRADIO,
        re.compile(rb"\w+\.i18n\(`common\.complete`\)"),
        rb"`Done`",
    ),
    Mend(
        "statustracker",
        "the clock beside “Loading” stops when “Loading” disappears; else the page would draw frames without end",
        GRADIO,
        re.compile(rb"(,(\w+),(\w+)=!1,.{1,3000}?function (\w+)\(\)\{\w+\(\(\)=>\{[^}]*?,\3)(&&\4\(\))", re.DOTALL),
        rb"\1&&\2?.isConnected\5",
    ),
)
