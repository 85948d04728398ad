"""The protection of the app from strangers: one small middleware or bound in each file, put together here."""

from collections.abc import Sequence

from starlette.middleware import Middleware

from demos.page.protection.addresses import Addresses
from demos.page.protection.body_guard import BodyGuard
from demos.page.protection.closed_routes import ClosedRoutes
from demos.page.protection.headers import SecurityHeaders
from demos.page.protection.heartbeats import Heartbeats
from demos.page.protection.listening import Listening
from demos.page.protection.odd_requests import OddRequests
from demos.page.protection.origin_guard import OriginGuard
from demos.page.protection.request_check import RequestCheck
from demos.page.protection.uploading import Uploading

# Within the headers, the outermost first; the cheapest checks come first.
GUARDS = (Addresses, ClosedRoutes, OriginGuard, BodyGuard, RequestCheck, Heartbeats, Listening, Uploading)
INNERMOST = Middleware(OddRequests)  # within all that is ours


def guards(frames: Sequence[str] = ()) -> list[Middleware]:
    """All of them; `frames` are further origins whose pages may show the app in a frame."""
    return [Middleware(SecurityHeaders, frames=frames), *(Middleware(guard) for guard in GUARDS)]


MIDDLEWARE = guards()
