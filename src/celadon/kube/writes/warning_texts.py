"""The texts of `Warning` headers that any resource may cause.

As k8s.io/apiserver `pkg/endpoints/{handlers,deprecation}`.
"""

from __future__ import annotations

from collections.abc import Iterable

from celadon.kube.names import GroupVersionKind


def deprecated(
    gvk: GroupVersionKind, since: str, until: str, replacement: GroupVersionKind | None = None
) -> str:
    """`since` and `until` are releases, `1.35`; `until` is the first without it."""
    text = f"{gvk.api_version} {gvk.kind} is deprecated in v{since}+, unavailable in v{until}+"
    if replacement is not None:
        text += f"; use {replacement.api_version} {replacement.kind}"
    return text


def duplicate_owners(uids: Iterable[str], *, mutated: bool = False) -> str:
    """`mutated` is when mutating admission has put them there."""
    when = " after mutating admission happens" if mutated else ""
    return (
        f".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner "
        "references in 1.20+, and may reject such requests as early as 1.24; please fix your "
        f"requests; duplicate UID(s) observed: {', '.join(uids)}"
    )
