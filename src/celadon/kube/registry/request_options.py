"""The options of a request, as they come in a query or a body.

Of a write or a deletion: what is wrong with them, as k8s.io/apimachinery
`pkg/apis/meta/v1/validation`. A server answers with `invalid_options` before it looks at the body.

Of a connection (`pods/exec`, `services/proxy`, …): what admission sees of it. They come in the
query, or are what follows the subresource in the path. Flags that are off are left out. As
k8s.io/kubernetes `pkg/apis/core/v1/zz_generated.conversion.go` and k8s.io/apimachinery
`pkg/apis/meta/v1/conversion.go`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from celadon.kube import fieldpath, status
from celadon.kube.fieldpath import FieldError, FieldPath
from celadon.kube.go.go_text import parse_uint
from celadon.kube.json_types import Json
from celadon.kube.names import GroupKind, GroupVersionKind
from celadon.kube.status import StatusError
from celadon.records import dataclass

DRY_RUN_VALUES: Final = ("All",)

IGNORE: Final = "Ignore"
WARN: Final = "Warn"
STRICT: Final = "Strict"
FIELD_VALIDATIONS: Final = ("", IGNORE, STRICT, WARN)
"""What becomes of unknown and repeated fields; empty is `WARN`."""

PROPAGATION_POLICIES: Final = ("Foreground", "Background", "Orphan")
FIELD_MANAGER_BYTES: Final = 128

CREATE: Final = "CreateOptions"
UPDATE: Final = "UpdateOptions"
PATCH: Final = "PatchOptions"
DELETE: Final = "DeleteOptions"


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """`force` is None when it was not given; `apply` says whether the patch is an apply patch."""

    dry_run: tuple[str, ...] = ()
    field_manager: str = ""
    field_validation: str = ""
    force: bool | None = None
    apply: bool = False


def write_option_errors(options: WriteOptions, kind: str) -> list[FieldError]:
    """`kind` is `CREATE`, `UPDATE` or `PATCH`."""
    errors: list[FieldError] = []
    if kind == PATCH and options.apply and not options.field_manager:
        path = FieldPath("fieldManager")
        errors.append(fieldpath.required(path, "is required for apply patch"))
    if kind == PATCH and not options.apply and options.force is not None:
        path = FieldPath("force")
        errors.append(fieldpath.forbidden(path, "may not be specified for non-apply patch"))
    errors += field_manager_errors(options.field_manager, FieldPath("fieldManager"))
    errors += _dry_run(options.dry_run)
    if options.field_validation not in FIELD_VALIDATIONS:
        path = FieldPath("fieldValidation")
        errors.append(fieldpath.not_supported(path, options.field_validation, FIELD_VALIDATIONS))
    return errors


def delete_option_errors(
    dry_run: Sequence[str], propagation_policy: str | None, *, orphan_dependents: bool | None
) -> list[FieldError]:
    """`dryRun`, and the two ways to say what happens to dependents, of which one may be given."""
    path = FieldPath("propagationPolicy")
    errors: list[FieldError] = []
    if propagation_policy is not None:
        value = fieldpath.NamedText(propagation_policy)
        if orphan_dependents is not None:
            detail = "orphanDependents and deletionPropagation cannot be both set"
            errors.append(fieldpath.invalid(path, value, detail))
        if propagation_policy not in PROPAGATION_POLICIES:
            errors.append(fieldpath.not_supported(path, value, (*PROPAGATION_POLICIES, "nil")))
    return errors + _dry_run(dry_run)


def field_manager_errors(manager: str, path: FieldPath) -> list[FieldError]:
    """Too long, or with characters that cannot be printed; positions count bytes."""
    encoded = manager.encode("utf-8", "surrogatepass")
    errors = []
    if len(encoded) > FIELD_MANAGER_BYTES:
        errors.append(fieldpath.too_long(path, FIELD_MANAGER_BYTES))
    position = 0
    for char in manager:
        if not char.isprintable():
            detail = f"invalid character U+{ord(char):04X} (at position {position})"
            errors.append(fieldpath.invalid(path, manager, detail))
        position += len(char.encode("utf-8", "surrogatepass"))
    return errors


def _dry_run(values: Sequence[str]) -> list[FieldError]:
    if all(value in DRY_RUN_VALUES for value in values):
        return []
    return [fieldpath.not_supported(FieldPath("dryRun"), list(values), DRY_RUN_VALUES)]


def invalid_options(kind: str, errors: Sequence[FieldError]) -> StatusError:
    """422 for options of this kind."""
    return status.invalid(GroupKind("meta.k8s.io", kind), "", errors)


# --- connections ---

_PORT_BITS: Final = 16


@dataclass(frozen=True, slots=True)
class OptionFields:
    """The members of an options kind, by how their values are read."""

    flags: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    ports: tuple[str, ...] = ()
    has_path: bool = False


_STREAMS: Final = ("stdin", "stdout", "stderr", "tty")
_PROXY: Final = OptionFields(has_path=True)

OPTIONS: Final[Mapping[str, OptionFields]] = {
    "PodAttachOptions": OptionFields(flags=_STREAMS, texts=("container",)),
    "PodExecOptions": OptionFields(flags=_STREAMS, texts=("container",), lists=("command",)),
    "PodPortForwardOptions": OptionFields(ports=("ports",)),
    "NodeProxyOptions": _PROXY,
    "PodProxyOptions": _PROXY,
    "ServiceProxyOptions": _PROXY,
}


def connect_options(
    kind: GroupVersionKind, query: Mapping[str, Sequence[str]], path: str = ""
) -> dict[str, Json]:
    """`path` is what follows the subresource, with the slash before it. Raises ValueError for
    ports that are none, with upstream's text."""
    fields = OPTIONS.get(kind.kind, OptionFields())
    made: dict[str, Json] = {"kind": kind.kind, "apiVersion": kind.api_version}
    for name in fields.flags:
        if query.get(name) and flag(query[name][0]):
            made[name] = True
    for name in fields.texts:
        if query.get(name) and query[name][0]:
            made[name] = query[name][0]
    for name in fields.lists:
        if query.get(name):
            made[name] = list(query[name])
    for name in fields.ports:
        if query.get(name):
            made[name] = [_port(part) for text in query[name] for part in text.split(",")]
    if fields.has_path and path:
        made["path"] = path
    return made


def flag(text: str) -> bool:
    """Go's reading of a boolean parameter that is there: neither `0` nor a form of `false`."""
    return text != "0" and text.lower() != "false"


def _port(text: str) -> int:
    try:
        return parse_uint(text, _PORT_BITS)
    except ValueError as error:
        raise ValueError(f"cannot convert to []int32: {error}") from None
