"""No, and why: what a handler raises or returns to refuse a request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

REASONS: Final[Mapping[int, str]] = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    413: "RequestEntityTooLarge",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
}
"""What clients of the API read from a Status besides its code."""
LEAST_CODE: Final = 400
MOST_CODE: Final = 599


class Denied(Exception):
    """The request is refused with this message.

    `code` is the HTTP status that the client of the API gets, 400 to 599; `reason` is that of the
    Status, by the code unless it is given; `details` are its details, as in the API (`causes`,
    `retryAfterSeconds`, ...).
    """

    def __init__(
        self,
        message: str,
        *,
        code: int = 403,
        reason: str = "",
        details: Mapping[str, Any] | None = None,
    ) -> None:
        if not LEAST_CODE <= code <= MOST_CODE:
            raise ValueError(f"a denial has a code from {LEAST_CODE} to {MOST_CODE}, not {code}")
        super().__init__(message)
        self.message = message
        self.code = code
        self.reason = reason or REASONS.get(code, "")
        self.details = details

    def status(self) -> dict[str, Any]:
        """The Status of a response."""
        found: dict[str, Any] = {"status": "Failure", "message": self.message, "code": self.code}
        if self.reason:
            found["reason"] = self.reason
        if self.details:
            found["details"] = dict(self.details)
        return found
