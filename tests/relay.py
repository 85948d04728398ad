"""A line between a browser and the app that can be cut, as a sleeping laptop or a lost Wi-Fi cuts it, and mended."""

from __future__ import annotations

import socket
import struct
import threading
import time
from contextlib import suppress

AT_ONCE = struct.pack("ii", 1, 0)  # SO_LINGER: a close that is told as a broken connection


class Relay:
    """Hands on what is sent to `port` of this machine, both ways, at the address `url`."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.is_cut = False
        self.moved = time.monotonic()  # when something was handed on
        self.ends: set[socket.socket] = set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Break all connections; who asks for a new one finds it broken at once."""
        self.is_cut = True
        for end in list(self.ends):
            _break(end)

    def mend(self) -> None:
        self.is_cut = False

    def close(self) -> None:
        self.cut()
        self.listener.close()

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                client, _ = self.listener.accept()
                if self.is_cut:
                    _break(client)
                    continue
                app = socket.create_connection(("127.0.0.1", self.port))
                self.ends |= {client, app}
                for ends in ((client, app), (app, client)):
                    threading.Thread(target=self._hand_on, args=ends, daemon=True).start()

    def _hand_on(self, taken: socket.socket, given: socket.socket) -> None:
        with suppress(OSError):
            while some := taken.recv(65_536):
                self.moved = time.monotonic()
                given.sendall(some)
        for end in (taken, given):
            self.ends.discard(end)
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


def _break(end: socket.socket) -> None:
    with suppress(OSError):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
        end.shutdown(socket.SHUT_RDWR)
    end.close()
