"""The texts of `Warning` headers that any resource may cause.

As k8s.io/apiserver `pkg/endpoints/{handlers,deprecation}`.
"""

from __future__ import annotations

from collections.abc import Iterable


def duplicate_owners(uids: Iterable[str], *, mutated: bool = False) -> str:
    """`mutated` is when mutating admission has put them there."""
    when = " after mutating admission happens" if mutated else ""
    return (
        f".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner "
        "references in 1.20+, and may reject such requests as early as 1.24; please fix your "
        f"requests; duplicate UID(s) observed: {', '.join(uids)}"
    )
