"""The app as on a Space with sign-in, with two stand-ins: the Hub's, and for what a Space does about signing in.

`python -m tests.browser.signed_in_app PORT MADE`; the file MADE holds what was made on the Hub, as JSON.
/stand-in?account=ann signs a browser in: it sets the cookie that Gradio's own session has there, here without a
signature, since the library that signs is a Space's own.
"""

from __future__ import annotations

import base64
import json
import os
import sys
import threading
import time
from http.server import ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

os.environ |= {"SPACE_ID": "ada/inside-bert", "OAUTH_CLIENT_ID": "client", "HF_HUB_OFFLINE": "0"}

import huggingface_hub.constants
from gradio import routes
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tests.training.export.account_hub import AccountHub


class Sessions:
    """In the place of Starlette's: the session is the cookie, as JSON in base64."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        cookies = cookie_parser(dict(scope["headers"]).get(b"cookie", b"").decode())
        session = json.loads(base64.urlsafe_b64decode(cookies.get("session", "e30=")))
        scope["session"] = session
        if scope["path"] == "/stand-in":
            account = parse_qs(scope["query_string"].decode())["account"][0]
            session["oauth_info"] = signed_in(account)
        before = json.dumps(session) if scope["path"] != "/stand-in" else ""

        async def headed(message: Message) -> None:
            if message["type"] == "http.response.start" and json.dumps(session) != before:
                cookie = base64.urlsafe_b64encode(json.dumps(session).encode()).decode()
                header = (b"set-cookie", f"session={cookie}; path=/; httponly".encode())
                message = {**message, "headers": [*message["headers"], header]}
            await send(message)

        await self.app(scope, receive, headed)


def signed_in(account: str) -> dict[str, Any]:
    """What Gradio keeps of who has signed in."""
    user = {"preferred_username": account, "name": account, "profile": "", "picture": ""}
    return {"access_token": f"{account}'s token", "scope": "", "expires_at": time.time() + 3_600, "userinfo": user}


def main(port: str, made: str) -> int:
    """Serve until ended."""

    class Written(AccountHub):
        def _answer(self, *answer: Any) -> None:
            Path(made).write_text(json.dumps(self.made), encoding="utf-8")
            super()._answer(*answer)

    AccountHub.begin()
    hub = ThreadingHTTPServer(("127.0.0.1", 0), Written)
    threading.Thread(target=hub.serve_forever, daemon=True).start()
    huggingface_hub.constants.ENDPOINT = f"http://127.0.0.1:{hub.server_port}"
    routes.attach_oauth = lambda app: app.add_middleware(Sessions)

    import app
    from demos.lessons.finetune.export import hub as publishing

    publishing.find_spec = lambda name: name in ("authlib", "itsdangerous") or find_spec(name)  # type: ignore
    return app.main(["--port", port, "--model", "minilm"])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
