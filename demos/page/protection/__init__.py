"""What stands between strangers and the app: one small middleware or bound a file, put together here."""

from __future__ import annotations

from starlette.middleware import Middleware

from demos.page.protection.addresses import Addresses, keep_no_addresses
from demos.page.protection.body_guard import BodyGuard
from demos.page.protection.closed_routes import ClosedRoutes
from demos.page.protection.connections import bound_connections
from demos.page.protection.error_log import keep_log_small
from demos.page.protection.event_queue import bound_the_queue
from demos.page.protection.headers import SecurityHeaders
from demos.page.protection.heartbeats import Heartbeats
from demos.page.protection.listening import Listening
from demos.page.protection.odd_requests import OddRequests
from demos.page.protection.origin_guard import OriginGuard, let_no_other_page_read
from demos.page.protection.request_check import RequestCheck
from demos.page.protection.uploading import Uploading, bound_uploads
from demos.page.protection.wrong_values import tell_wrong_values

# The outermost first; what is cheapest to refuse is refused first.
GUARDS = (
    *(SecurityHeaders, Addresses, ClosedRoutes, OriginGuard, BodyGuard, RequestCheck),
    *(Heartbeats, Listening, Uploading),
)
MIDDLEWARE = [Middleware(guard) for guard in GUARDS]
INNERMOST = Middleware(OddRequests)  # within all that is ours


def protect_server() -> None:
    """What no middleware can do; before the page is built."""
    keep_log_small()
    bound_connections()
    let_no_other_page_read()
    keep_no_addresses()
    bound_the_queue()
    bound_uploads()
    tell_wrong_values()
