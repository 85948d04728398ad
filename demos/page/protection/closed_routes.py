"""Gradio's routes that this page has no use for, closed: each is one more way in, or fills memory or disk.

Gradio itself closes its monitoring and its history of runs: `launch_options` in app.py says so.
"""

from gradio.route_utils import API_PREFIX
from starlette.types import ASGIApp, Receive, Scope, Send

from demos.page.protection.answers import refuse

CLOSED = (
    "/login",  # there are no passwords here; signing in goes through /login/huggingface
    *(
        f"{API_PREFIX}/{name}"
        for name in (
            "run/",  # past the queue: all that the page itself computes goes through it
            "api/",  # the same
            "dev/",  # a stream that looks twenty times a second whether the app's files have changed
            "deep_link",  # a copy of the page's state in a folder, a call
            "proxy=",
            "file=http:",  # fetches any address from outside
            "file=https:",
            "file/",
            "process_recording",
            "vibe-",  # an editor of the app's own file
            "custom_component",
            "stream/",  # of sound and video
            "token",
        )
    ),
)
MCP = f"{API_PREFIX}/mcp"  # with --mcp: one request, one answer; its streams would stay open for as long as one likes
SIGN_IN = "/login/huggingface", "/login/callback"


class ClosedRoutes:
    """ASGI middleware: 404 for them, and 405 for what is no call of MCP's one address."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if scope["type"] == "http" and path.startswith(CLOSED) and not path.startswith(SIGN_IN):
            await refuse(send, 404, "There is no such address here.")
            return
        if scope["type"] == "http" and path.startswith(MCP) and (scope["method"] != "POST" or path.rstrip("/") != MCP):
            await refuse(send, 405, f"Programs that speak MCP send a POST to {MCP}/.", (b"allow", b"POST"))
            return
        await self.app(scope, receive, send)
