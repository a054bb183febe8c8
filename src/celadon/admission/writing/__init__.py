"""For those who let objects in: what is said against them, and what policies are asked."""

from celadon.admission.writing.write_requests import (
    deletion_options,
    errors_of,
    refusal,
    request_of,
    write_options,
)

__all__ = ["deletion_options", "errors_of", "refusal", "request_of", "write_options"]
