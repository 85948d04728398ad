"""A refusal on the wire: a status and one sentence, as Gradio's own refusals are written."""

from __future__ import annotations

import orjson  # Gradio requires it
from starlette.types import Send


async def refuse(send: Send, status: int, sentence: str, *headers: tuple[bytes, bytes]) -> None:
    """Answer with JSON, `{"detail": sentence}`, which Gradio's browser and Python clients show."""
    body = orjson.dumps({"detail": sentence})
    length = (b"content-length", str(len(body)).encode())
    told = [(b"content-type", b"application/json"), length, *headers]
    await send({"type": "http.response.start", "status": status, "headers": told})
    await send({"type": "http.response.body", "body": body})
