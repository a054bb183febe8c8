"""Large answers, compressed for clients that say they can read that.

As k8s.io/apiserver `pkg/endpoints/handlers/responsewriters/writers.go`: quality values are not
looked at, and an encoding with one is not recognised. Streams stay as they are.
"""

from __future__ import annotations

import gzip
from dataclasses import replace
from typing import Final

from celadon.serve.http_messages import HttpAnswer, HttpRequest

THRESHOLD: Final = 128 * 1024
"""Bytes of a body up to which it is sent as it is."""

_LEVEL: Final = 1


def compressed(answer: HttpAnswer, request: HttpRequest) -> HttpAnswer:
    """The same answer, its body in gzip if that is wanted and worth it."""
    if len(answer.body) <= THRESHOLD or not _accepts_gzip(request):
        return answer
    headers = (("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding"))
    body = gzip.compress(answer.body, _LEVEL, mtime=0)
    return replace(answer, body=body, headers=(*answer.headers, *headers))


def _accepts_gzip(request: HttpRequest) -> bool:
    offers = request.header("accept-encoding").split(",")
    return any(offer.strip() == "gzip" for offer in offers)
