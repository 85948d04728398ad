"""A lesson's address: its name, but the first lesson's, which is the page without a name.

Links carry a lesson as ?lesson=name too: those of earlier versions, and those to a Space, which passes the query of its
address to the app, and no path.
"""

from collections.abc import Sequence
from urllib.parse import parse_qs, parse_qsl, urlencode

from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send


class LessonAddresses:
    """ASGI middleware: "/?lesson=name" leads to "/name" with the rest of its query, an unknown name to the first.

    So does "/name/", where a page would look for its files in a folder of that name; "/name/part" leads to
    "/name?part=part", and capitals to small letters: what people type from memory.
    """

    def __init__(self, app: ASGIApp, lessons: Sequence[str]) -> None:
        self.app = app
        self.first, *others = lessons
        self.others = frozenset(others)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] in {"/", f"/{self.first}"}:
            query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
            named = query.pop("lesson", [""])[0]
            if named in self.others or scope["path"] != "/":
                address = named if named in self.others else ""
                await RedirectResponse(f"./{address}?{urlencode(query, doseq=True)}")(scope, receive, send)
                return
        elif scope["type"] == "http":
            named, *parts = scope["path"].lower().strip("/").split("/")
            is_part = len(parts) == 1 and parts[0].isidentifier()
            if named in self.others and scope["path"] != f"/{named}" and (is_part or not parts):
                up = "../" * (scope["path"].count("/") - 1)
                choices = [
                    *(("part", part) for part in parts),
                    *parse_qsl(scope["query_string"].decode("latin-1"), True),
                ]
                await RedirectResponse(f"{up}{named}?{urlencode(choices)}")(scope, receive, send)
                return
        await self.app(scope, receive, send)
