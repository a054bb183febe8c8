"""Image references: the one question defaulting asks is whether the tag is `latest`.

As github.com/distribution/reference, `ParseNormalizedNamed` and `TagNameOnly`. An unparsable
reference has no tag, so its pull policy is not `Always`. What was taken for a registry need not be
a valid host name, as long as it is a valid path component.
"""

from __future__ import annotations

from typing import Final

from celadon.patterns import late_pattern
from celadon.remembering import remembering

_COMPONENT: Final = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_DOMAIN_LABEL: Final = r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_DOMAIN: Final = rf"(?:{_DOMAIN_LABEL}(?:\.{_DOMAIN_LABEL})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
_REFERENCE: Final = late_pattern(
    rf"(?:{_DOMAIN}/)?(?P<path>{_COMPONENT}(?:/{_COMPONENT})*)"
    r"(?::(?P<tag>[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}))?"
    r"(?:@(?P<algorithm>[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*)"
    r":(?P<digest>[0-9a-fA-F]{32,}))?"
)
_IDENTIFIER: Final = late_pattern("[a-f0-9]{64}")
_DIGEST_LENGTHS: Final = {"sha256": 64, "sha384": 96, "sha512": 128}
_LOWER_HEX: Final = late_pattern("[a-f0-9]*")
_MAX_PATH: Final = 255
_MAX_REFERENCE: Final = 4096
"""Longer texts than this cannot name an image (domain, path, tag and digest are bounded)."""


@remembering(1024)
def has_latest_tag(image: str) -> bool:
    """Whether the tag is `latest`, written or implied."""
    if len(image) > _MAX_REFERENCE or _IDENTIFIER.fullmatch(image) is not None:
        return False
    domain, path = _split_domain(image)
    name = path.partition(":")[0]
    if name != name.lower():
        return False
    match = _REFERENCE.fullmatch(f"{domain}/{path}")
    if match is None or len(match["path"]) > _MAX_PATH:
        return False
    digest = match["digest"]
    if digest is not None:
        right_length = _DIGEST_LENGTHS.get(match["algorithm"]) == len(digest)
        if not right_length or _LOWER_HEX.fullmatch(digest) is None:
            return False
    tag: str | None = match["tag"]
    return tag == "latest" if tag is not None else digest is None


def _split_domain(image: str) -> tuple[str, str]:
    first, slash, rest = image.partition("/")
    named = slash and (
        first == "localhost" or "." in first or ":" in first or first != first.lower()
    )
    domain, path = (first, rest) if named else ("docker.io", image)
    if domain == "index.docker.io":
        domain = "docker.io"
    if domain == "docker.io" and "/" not in path:
        path = f"library/{path}"
    return domain, path
