"""Answers on the wire: one that is watched, and a refusal: a status and one sentence, as Gradio's own are written."""

import orjson  # Gradio requires it
from starlette.types import Message, Send


class Answer:
    """A `send` for the app behind a guard, which then knows whether it may still answer in the app's place."""

    def __init__(self, send: Send) -> None:
        self.pass_on = send
        self.begun = False

    async def send(self, message: Message) -> None:
        """ASGI's `send`."""
        self.begun = True
        await self.pass_on(message)


async def refuse(send: Send, status: int, sentence: str, *headers: tuple[bytes, bytes]) -> None:
    """Answer with JSON, `{"detail": sentence}`, which Gradio's browser and Python clients show."""
    body = orjson.dumps({"detail": sentence})
    length = (b"content-length", str(len(body)).encode())
    response_headers = [(b"content-type", b"application/json"), length, *headers]
    await send({"type": "http.response.start", "status": status, "headers": response_headers})
    await send({"type": "http.response.body", "body": body})
