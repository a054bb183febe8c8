"""Group, version, kind and resource: the names under which Kubernetes knows types and endpoints.

`group` is the empty string for the core group. `str()` of each gives what Go prints for it, since
these names appear in messages.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from celadon.kube.errors import MalformedText
from celadon.memoization import remembering


class GroupVersion(NamedTuple):
    """Names a group and a version, as `apiVersion` says them: `apps/v1`."""

    group: str
    version: str

    def __str__(self) -> str:
        """Return the `apiVersion` form: `apps/v1`, `v1`."""
        return f"{self.group}/{self.version}" if self.group else self.version


class GroupKind(NamedTuple):
    """Names a kind in whichever version: `Deployment.apps`."""

    group: str
    kind: str

    def __str__(self) -> str:
        return f"{self.kind}.{self.group}" if self.group else self.kind

    @property
    def go_package(self) -> str:
        """Return the Go package that has the kind as a server has it inside."""
        return _PACKAGES.get(self.group, self.group.partition(".")[0])


class GroupResource(NamedTuple):
    """Names a resource in whichever version: `deployments.apps`."""

    group: str
    resource: str

    def __str__(self) -> str:
        return f"{self.resource}.{self.group}" if self.group else self.resource


class GroupVersionKind(NamedTuple):
    """Names a kind: what `apiVersion` and `kind` of an object say."""

    group: str
    version: str
    kind: str

    @property
    def group_version(self) -> GroupVersion:
        """Return where the kind is defined."""
        return GroupVersion(self.group, self.version)

    @property
    def group_kind(self) -> GroupKind:
        """Return the kind in whichever version."""
        # 17 times in a create, in half of the time that `GroupKind(...)` takes
        return tuple.__new__(GroupKind, (self.group, self.kind))

    @property
    def api_version(self) -> str:
        """Return the version as objects of the kind write it: `apps/v1`, `v1`."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def __str__(self) -> str:
        """`apps/v1, Kind=Deployment`; the core group leaves the slash: `/v1, Kind=Pod`."""
        return f"{self.group}/{self.version}, Kind={self.kind}"


class GroupVersionResource(NamedTuple):
    """Names a resource: where objects are found (`/apis/apps/v1/.../deployments`)."""

    group: str
    version: str
    resource: str

    @property
    def group_version(self) -> GroupVersion:
        """Return where the resource is served."""
        return GroupVersion(self.group, self.version)

    @property
    def group_resource(self) -> GroupResource:
        """Return the resource in whichever version, as most messages name it."""
        return tuple.__new__(GroupResource, (self.group, self.resource))  # as `group_kind`

    @property
    def api_version(self) -> str:
        """Return the version as objects found there write it: `apps/v1`, `v1`."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def __str__(self) -> str:
        """`apps/v1, Resource=deployments`; the core group leaves the slash."""
        return f"{self.group}/{self.version}, Resource={self.resource}"


class ApiVersionError(MalformedText):
    """Says that an `apiVersion` has more than one slash."""

    def __init__(self, text: str) -> None:
        super().__init__(f"unexpected GroupVersion string: {text}")


@remembering(1024)
def parse_api_version(text: str) -> GroupVersion:
    """Return the group and the version of a text such as `v1` or `apps/v1`; `""` and `"/"` give two
    empty parts. As upstream's `ParseGroupVersion`."""
    if text in {"", "/"}:
        return GroupVersion("", "")
    group, slash, version = text.partition("/")
    if not slash:
        return GroupVersion("", text)
    if "/" in version:
        raise ApiVersionError(text)
    return GroupVersion(group, version)


_PACKAGES: Final = {
    "": "core",
    "events.k8s.io": "core",
    "internal.apiserver.k8s.io": "apiserverinternal",
}
"""Go packages of groups whose package is not the first word of the group's name."""
