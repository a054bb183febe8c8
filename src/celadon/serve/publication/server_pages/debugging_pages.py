"""`/statusz` and `/flagz`: what a server says of itself to people who look for a mistake.

Text for whoever does not name one of the kinds in the Accept header, else that kind as JSON or
YAML. As k8s.io/apiserver `pkg/server/{statusz,flagz}`, where the sign between a word and its value
is drawn by lot, so that nobody reads it by machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from celadon.kube import status
from celadon.records import dataclass
from celadon.serve.answers import object_answer
from celadon.serve.http_messages import JSON, HttpAnswer, HttpRequest, plain_text
from celadon.serve.publication.server_pages.server_version import ServerVersion
from celadon.serve.requests.negotiation import YAML, Accepted, is_pretty, media_clauses

COMPONENT: Final = "apiserver"
TEXT: Final = "text/plain"
TYPES: Final = (JSON, YAML, TEXT)
GROUP: Final = "config.k8s.io"
VERSIONS: Final = ("v1beta1", "v1alpha1")
DEPRECATED: Final = "v1alpha1"
KINDS: Final[Mapping[str, str]] = {"statusz": "Statusz", "flagz": "Flagz"}
SINCE: Final = (1, 36)
"""The release since which the pages are there without being asked for."""

_NOT_FOR_DEBUGGING: Final = frozenset({"apis", "api", "openid", "openapi", ".well-known"})
_HEADER: Final = (
    "\n{component} {page}\nWarning: This endpoint is not meant to be machine parseable, has no "
    "formatting compatibility guarantees and is for debugging purposes only.\n"
)


@dataclass(frozen=True, slots=True)
class SelfPortrait:
    """What a server knows of itself: `began` and `now` are in seconds, `flags` how it was
    started."""

    version: ServerVersion
    began: float
    now: Callable[[], float]
    flags: Mapping[str, str]


def page_answer(
    page: str, request: HttpRequest, portrait: SelfPortrait, paths: Iterable[str]
) -> HttpAnswer:
    """Of one of KINDS; `paths` are those of `/`. Raises StatusError 406."""
    wanted = _wanted(request, KINDS[page])
    if wanted is None:
        header = _HEADER.format(component=COMPONENT, page=page)
        lines = _status_text(portrait, paths) if page == "statusz" else _flag_lines(portrait)
        return plain_text(200, header + "".join(lines))
    version, accepted = wanted
    said = _status_members(portrait, paths) if page == "statusz" else {"flags": _flags(portrait)}
    document = {
        "kind": KINDS[page],
        "apiVersion": f"{GROUP}/{version}",
        "metadata": {"name": COMPONENT},
        **said,
    }
    return object_answer(200, document, accepted, *_warnings(page, version))


def _wanted(request: HttpRequest, kind: str) -> tuple[str, Accepted] | None:
    """The version of the kind and how to write it; None for text."""
    given = ", ".join(request.header_values("accept"))
    if not given.strip():
        return None
    for clause in media_clauses(given):
        named = tuple(clause.parameters.get(key, "") for key in ("g", "as"))
        version = clause.parameters.get("v", "")
        if clause.parameters.get("stream"):
            continue
        for media_type in filter(clause.fits, TYPES):
            if media_type == TEXT and not any((*named, version)):
                return None
            if media_type != TEXT and named == (GROUP, kind) and version in VERSIONS:
                pretty = is_pretty(request, clause.parameters.get("pretty", ""))
                return version, Accepted(media_type, pretty=pretty)
    raise status.not_acceptable(TYPES)


def _warnings(page: str, version: str) -> Iterator[tuple[str, str]]:
    if version == DEPRECATED:
        text = f"This version of the {page} endpoint is deprecated. Please use a newer version."
        yield "Warning", f'299 - "{text}"'


def _seconds(portrait: SelfPortrait) -> int:
    return max(0, int(portrait.now() - portrait.began))


def _folders(paths: Iterable[str]) -> list[str]:
    """First words of paths, without those of the API itself."""
    words = {path.strip("/").partition("/")[0] for path in paths}
    return [f"/{word}" for word in sorted(words - _NOT_FOR_DEBUGGING - {""})]


def _status_members(portrait: SelfPortrait, paths: Iterable[str]) -> dict[str, Any]:
    version = portrait.version
    return {
        "startTime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(portrait.began)),
        "uptimeSeconds": _seconds(portrait),
        "goVersion": version.document()["goVersion"],
        "binaryVersion": version.git_version.removeprefix("v"),
        "emulationVersion": version.release,
        "paths": _folders(paths),
    }


def _status_text(portrait: SelfPortrait, paths: Iterable[str]) -> Iterator[str]:
    members, up = _status_members(portrait, paths), _seconds(portrait)
    began = time.strftime("%a %b %e %H:%M:%S UTC %Y", time.gmtime(portrait.began))
    yield f"\nStarted: {began}\n"
    yield f"Up: {up // 3600} hr {up // 60 % 60:02} min {up % 60:02} sec\n"
    yield f"Go version: {members['goVersion']}\n"
    yield f"Binary version: {members['binaryVersion']}\n"
    yield f"Emulation version: {members['emulationVersion']}\n"
    yield f"Paths: {' '.join(members['paths'])}\n"


def _flags(portrait: SelfPortrait) -> dict[str, str]:
    return dict(sorted(portrait.flags.items()))


def _flag_lines(portrait: SelfPortrait) -> Iterator[str]:
    yield from (f"{name}={value}\n" for name, value in _flags(portrait).items())
