"""As much of the Hub as a push needs, on this machine: accounts by their tokens, repositories, commits, refusals."""

import json
import re
from http.server import BaseHTTPRequestHandler
from typing import Any, ClassVar

TOKENS = {"ann's token": "ann", "bob's token": "bob"}


class AccountHub(BaseHTTPRequestHandler):
    """`made` are the repositories by their names, with their files; `refuses` an HTTP status by a part of a path."""

    protocol_version = "HTTP/1.1"
    made: ClassVar[dict[str, dict[str, Any]]]
    refuses: ClassVar[dict[str, tuple[int, str]]]
    asked: ClassVar[list[str]]

    @classmethod
    def begin(cls) -> None:
        cls.made, cls.refuses, cls.asked = {}, {}, []

    def log_message(self, *args: object) -> None:
        pass

    def _answer(self, status: int, document: Any = None, headers: dict[str, str] | None = None) -> None:
        body = json.dumps({} if document is None else document).encode()
        self.send_response(status)
        sent = {"Content-Length": str(len(body)), "Content-Type": "application/json", **(headers or {})}
        for name, value in sent.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _read(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _account(self) -> str:
        return TOKENS.get(self.headers.get("Authorization", "").removeprefix("Bearer "), "")

    def _refused(self) -> bool:
        self.asked.append(f"{self.command} {self.path}")
        for part, (status, why) in self.refuses.items():
            if part in f"{self.command} {self.path}":
                self._answer(status, {"error": why}, {"X-Error-Message": why})
                return True
        if not self._account():
            self._answer(401, {}, {"X-Error-Message": "Invalid credentials in Authorization header"})
            return True
        return False

    def do_GET(self) -> None:
        if self._refused():
            return
        name = self.path.split("?")[0].removeprefix("/api/models/")
        if name in self.made:
            self._answer(200, {"id": name, "private": self.made[name]["private"], "sha": "a" * 40, "siblings": []})
        else:
            self._answer(404, {}, {"X-Error-Code": "RepoNotFound"})

    def do_POST(self) -> None:
        body = self._read()
        if self._refused():
            return
        if self.path == "/api/repos/create":
            self._create(json.loads(body))
        elif self.path == "/api/validate-yaml":
            self._answer(200, {"errors": [], "warnings": []})
        elif found := re.fullmatch(r"/api/models/([^/]+/[^/]+)/(preupload|commit)/main.*", self.path):
            name, what = found.groups()
            if what == "preupload":
                files = [{**file, "uploadMode": "regular", "shouldIgnore": False} for file in json.loads(body)["files"]]
                self._answer(200, {"files": files})
            else:
                lines = [json.loads(line) for line in body.splitlines()]
                self.made[name]["files"] += [line["value"]["path"] for line in lines if line["key"] == "file"]
                url = f"http://{self.headers['Host']}/{name}/commit/{'b' * 40}"
                self._answer(200, {"commitUrl": url, "commitOid": "b" * 40, "success": True})
        else:
            self._answer(404)

    def do_DELETE(self) -> None:
        body = json.loads(self._read())
        if self._refused():
            return
        del self.made[f"{body.get('organization') or self._account()}/{body['name']}"]
        self._answer(200)

    def _create(self, asked: dict[str, Any]) -> None:
        owner = asked.get("organization") or self._account()
        name = f"{owner}/{asked['name']}"
        if owner != self._account():
            self._answer(403, {}, {"X-Error-Message": "You don't have the rights to create a model here"})
        elif name in self.made:
            self._answer(409, {"error": "You already created this model repo"})
        else:
            private = asked.get("private", asked.get("visibility") == "private")
            self.made[name] = {"private": private, "files": []}
            self._answer(200, {"url": f"http://{self.headers['Host']}/{name}", "name": name, "id": name})
