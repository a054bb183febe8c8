"""The options of a deletion as they come in a body.

As k8s.io/apiserver `pkg/endpoints/handlers/delete.go`: not strict, of any group version, and a body
that is none is refused in the words of the decoder alone.
"""

from __future__ import annotations

from typing import Any, Final

from celadon.kube import status
from celadon.kube.names import GroupVersionKind
from celadon.kube.registry.intake import request_bodies
from celadon.kube.schemas.typed_objects import decode as decoded
from celadon.kube.schemas.typed_objects import struct_codec
from celadon.kube.schemas.typed_values import DecodeError
from celadon.kube.status import StatusError

_EXPECTED: Final = GroupVersionKind("", "v1", "DeleteOptions")
_COMPONENT: Final = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"
_SCHEME: Final = "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"


def read_delete_options(body: bytes) -> dict[str, Any]:
    """The members of a JSON body. StatusError (400) when it cannot be read as delete options."""
    try:
        found, document = request_bodies.interpreted(body, _EXPECTED)
    except request_bodies.Uninterpretable as error:
        raise status.bad_request(str(error)) from None
    if found.kind != _EXPECTED.kind:
        raise _not_registered(found)
    try:
        return decoded(struct_codec(_COMPONENT), document.value)
    except DecodeError as error:
        raise status.bad_request(str(error)) from error


def _not_registered(found: GroupVersionKind) -> StatusError:
    return status.bad_request(
        f'no kind "{found.kind}" is registered for version "{found.api_version}" in scheme '
        f'"{_SCHEME}"'
    )
