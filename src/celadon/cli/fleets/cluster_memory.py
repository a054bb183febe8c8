"""Pages of a cluster that have been audited, in a folder, so that an audit that was stopped goes on
where it was.

A page is found by the policies, the settings, the cluster, its resource and its number. When the
audit is finished it is forgotten: the next one asks the cluster again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from celadon.cli.audit.audit_run import PageResult
from celadon.cli.audit.object_audit import AuditSettings
from celadon.cli.check.manifests import Manifests
from celadon.cli.fleets.finished_work import KeptResults, key_of
from celadon.kube import GroupVersionResource


def audit_identity(manifests: Manifests, settings: AuditSettings) -> Sequence[object]:
    """Return what tells an audit from others; not the time at which it was begun."""
    documents = (*(one for group in manifests.given for one in group), *manifests.admitted)
    told = [(one.file, one.path, one.value) for one in documents]
    return told, replace(settings, now="", jobs=0)


class KeptPages:
    """Those of one audit of one cluster."""

    __slots__ = ("_identity", "_keys", "_results")

    def __init__(self, results: KeptResults, *identity: object) -> None:
        self._results, self._identity = results, key_of(identity)
        self._keys: list[str] = []

    def found(self, resource: GroupVersionResource, number: int) -> PageResult | None:
        """A page that an earlier run has audited. Raises DamagedResultError, OSError."""
        return self._results.found(PageResult, self._key(resource, number))

    def keep(self, resource: GroupVersionResource, number: int, result: PageResult) -> None:
        """For a run that goes on here. Raises OSError."""
        self._results.keep(self._key(resource, number), result)

    def forget(self) -> None:
        """All pages of this audit. Raises OSError."""
        for key in self._keys:
            self._results.forget(key)

    def _key(self, resource: GroupVersionResource, number: int) -> str:
        key = key_of(self._identity, resource, number)
        self._keys.append(key)
        return key
