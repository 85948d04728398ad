"""The address under which others reach this page, and the QR code of a room's link."""

import ipaddress
import re
import socket
from urllib.parse import urlsplit, urlunsplit

import segno

from demos.errors import UserError

BASE = re.compile(r"https?://[\w.:\[\]-]{1,253}(/[\w./~%-]*)?", re.ASCII)
LONGEST = 300
OUTSIDE = ("10.255.255.255", 1)  # nothing is sent there: the system only says from which address it would be


def network_address() -> str:
    """This machine's address in its network; "" without one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(OUTSIDE)
            own = str(probe.getsockname()[0])
        except OSError:
            return ""
    return "" if is_own(own) else own


def is_own(host: str) -> bool:
    """Whether this name or address means the machine that says it, so that nobody else reaches it there."""
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback or address.is_unspecified


def reachable(base: object, host: str) -> str:
    """The page's address for others: `base`, where its opener's browser has it, with another host where that is needed.

    `host` is what the app listens at. "" where nobody else can reach it. Raises UserError for what is no address.
    """
    if not isinstance(base, str) or len(base) > LONGEST or not BASE.fullmatch(base):
        raise UserError("This is not an address of the page.")
    parts = urlsplit(base)
    if not is_own(parts.hostname or ""):
        return base
    network = network_address()
    if not network or (is_own(host) and host not in ("0.0.0.0", "::")):
        return ""
    return urlunsplit(parts._replace(netloc=f"{network}:{parts.port or 80}"))


def qr_code(link: str) -> str:
    """The link as a picture, an SVG in a data: address, black on white on every theme."""
    return str(segno.make(link, error="m", micro=False).svg_data_uri(scale=8, border=3, light="#fff", dark="#000"))
