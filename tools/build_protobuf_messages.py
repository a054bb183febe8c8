"""Rewrites the table of protobuf messages, `src/celadon/kube/protobuf/messages.txt`.

    python tools/build_protobuf_messages.py FOLDER

takes field numbers, names and types from `FOLDER/reference/apiserver-protobuf.md` and keeps those
of the packages that are only in the table (their numbers come from the `generated.proto` files of
k8s.io/api). The order of fields, that of Go's structs, is kept from the table. Which fields are
pointers in Go, and so may be absent on the wire, comes from `types` of
`FOLDER/reference/defaults.json`. Messages that no kind can reach are left out. The table is also
good to edit by hand: its own head explains it. The same input gives the same bytes.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

TABLE = (
    Path(__file__).resolve().parent.parent / "src" / "celadon" / "kube" / "protobuf/messages.txt"
)
OPENAPI = {
    "meta.v1": "io.k8s.apimachinery.pkg.apis.meta.v1.",
    "runtime": "io.k8s.apimachinery.pkg.runtime.",
    "apiextensions.v1": "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.",
    "apiregistration.v1": "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.",
}
EMBEDDED_IN = {
    "core.v1.EphemeralContainerCommon": "core.v1.EphemeralContainer",
    "admissionregistration.v1.Rule": "admissionregistration.v1.RuleWithOperations",
}
"""Structs without an OpenAPI name: their fields are described with those of the outer struct."""

POINTERS = {
    "core.v1.PodLogOptions": {"sinceSeconds", "sinceTime", "tailLines", "limitBytes", "stream"},
    "meta.v1.ListOptions": {"timeoutSeconds", "sendInitialEvents"},
    "meta.v1.PatchOptions": {"force"},
}
STRUCTS = {
    "core.v1.List": {"metadata"},
    "core.v1.PodStatusResult": {"metadata", "status"},
    "core.v1.RangeAllocation": {"metadata"},
    "core.v1.SerializedReference": {"reference"},
    "meta.v1.APIGroup": {"preferredVersion"},
    "meta.v1.ObjectMeta": {"creationTimestamp"},
    "meta.v1.PartialObjectMetadata": {"metadata"},
    "meta.v1.PartialObjectMetadataList": {"metadata"},
    "apps.v1.ControllerRevision": {"data"},
}
"""What defaults.json does not say: structs that are held by value."""

OTHER_KINDS = {
    *("core.v1.List", "core.v1.NodeProxyOptions", "core.v1.PodAttachOptions"),
    *("core.v1.PodExecOptions", "core.v1.PodLogOptions", "core.v1.PodPortForwardOptions"),
    *("core.v1.PodProxyOptions", "core.v1.PodStatusResult", "core.v1.RangeAllocation"),
    *("core.v1.SerializedReference", "core.v1.ServiceProxyOptions"),
    *("meta.v1.APIGroup", "meta.v1.APIGroupList", "meta.v1.APIVersions"),
    *("meta.v1.CreateOptions", "meta.v1.DeleteOptions", "meta.v1.GetOptions"),
    *("meta.v1.ListOptions", "meta.v1.PartialObjectMetadata"),
    *("meta.v1.PartialObjectMetadataList", "meta.v1.PatchOptions", "meta.v1.TableOptions"),
    "meta.v1.UpdateOptions",
}
"""Kinds that the OpenAPI documents do not name, or name for every group."""

NO_MESSAGES = {
    *("meta.v1.FieldsV1", "meta.v1.MicroTime", "meta.v1.Time"),
    *("runtime.RawExtension", "apiextensions.v1.JSON"),
}
"""Values with a JSON form of their own, which code reads and writes (`wire/payloads.py`)."""

SCALARS = {"string", "bytes", "bool", "int32", "int64", "double"}


class Field(NamedTuple):
    number: int
    name: str
    type: str


Messages = dict[str, list[Field]]
"""`core.v1.Pod` to its fields; types as written, the names of messages in full."""


def qualified(type_: str, package: str) -> str:
    def full(match: re.Match[str]) -> str:
        word = match.group()
        return word if word in SCALARS or "." in word else f"{package}.{word}"

    if type_.startswith("map<string,"):
        return "map<string," + qualified(type_[len("map<string,") : -1], package) + ">"
    return re.sub(r"[\w.]+", full, type_, count=1)


def from_reference(text: str) -> Messages:
    found: Messages = {}
    package = ""
    for line in text.splitlines():
        if line.startswith("## "):
            package = line[3:].strip()
        match = re.match(r"- \*\*(\w+)\*\* \{(.*)\}", line)
        if match:
            fields = [part.strip() for part in match[2].split(";") if part.strip()]
            found[f"{package}.{match[1]}"] = [_reference_field(field, package) for field in fields]
    return found


def _reference_field(text: str, package: str) -> Field:
    number, rest = text.split(" ", 1)
    names, type_ = rest.rsplit(":", 1)
    return Field(int(number), names.split("→")[-1], qualified(type_, package))


def from_table(text: str) -> tuple[dict[str, str], Messages]:
    """The packages with their group versions, and all messages."""
    packages, found, package, message = {}, Messages(), "", ""
    for line in text.splitlines():
        if line.startswith("["):
            package, _, version = line[1:].partition("]")
            packages[package] = version.strip()
        elif line.startswith(" "):
            number, name, type_ = line.split()
            field = Field(int(number), name, qualified(type_.rstrip("?"), package))
            found[message].append(field)
        elif line and not line.startswith("#"):
            message = f"{package}.{line.split()[0]}"
            found[message] = []
    return packages, found


def in_known_order(fields: list[Field], known: Sequence[Field]) -> list[Field]:
    """The fields in the order that the table has them in, which no reference tells: that of Go's
    structs. New fields come last."""
    places = {field.name: place for place, field in enumerate(known)}
    return sorted(fields, key=lambda field: (places.get(field.name, len(places)), field.number))


class Encodings:
    """What defaults.json and the OpenAPI documents know of the Go types."""

    def __init__(self, folder: Path) -> None:
        defaults = json.loads((folder / "reference" / "defaults.json").read_text())
        self.types = defaults["types"]
        self.kinds: set[str] = set()
        for path in sorted((folder / "openapi" / "v3").glob("*__*.json")):
            for name, schema in json.loads(path.read_text())["components"]["schemas"].items():
                if len(schema.get("x-kubernetes-group-version-kind", ())) == 1:
                    self.kinds.add(name)

    def openapi_name(self, message: str) -> str:
        package, _, name = message.rpartition(".")
        return OPENAPI.get(package, f"io.k8s.api.{package}.") + name

    def is_kind(self, message: str) -> bool:
        if message == "meta.v1.WatchEvent":  # frames of a stream have no envelope
            return False
        return message in OTHER_KINDS or self.openapi_name(message) in self.kinds

    def is_optional(self, message: str, field: Field) -> bool:
        """Whether Go leaves the field out when it is not set."""
        if field.type.endswith("[]") or field.type.startswith("map<") or field.name == "(inline)":
            return False
        encoding = self.types.get(self.openapi_name(EMBEDDED_IN.get(message, message)), {})
        if field.name in encoding.get("ptr", ()) or field.name in POINTERS.get(message, ()):
            return True
        if field.type in SCALARS:
            return field.type == "bytes"
        if field.name in STRUCTS.get(message, ()):
            return False
        always = encoding.get("always", {})
        by_value = field.name in always and always[field.name] is not None
        return not (by_value or (field.name in always and field.type.endswith("Time")))


def reachable(messages: Messages, encodings: Encodings) -> set[str]:
    waiting = [name for name in messages if encodings.is_kind(name)]
    found = set(waiting)
    while waiting:
        for field in messages[waiting.pop()]:
            name = re.sub(r"map<string,|>|\[\]", "", field.type)
            if name in messages and name not in found and name not in NO_MESSAGES:
                found.add(name)
                waiting.append(name)
    return found


def written(packages: dict[str, str], messages: Messages, encodings: Encodings) -> str:
    kept = reachable(messages, encodings)
    blocks = []
    for package, version in sorted(packages.items()):
        blocks.append(f"[{package}] {version}")
        for name in sorted(one for one in kept if one.rpartition(".")[0] == package):
            lines = [name.rpartition(".")[2] + (" kind" if encodings.is_kind(name) else "")]
            for field in messages[name]:
                mark = "?" if encodings.is_optional(name, field) else ""
                type_ = field.type.replace(f"{package}.", "")
                lines.append(f" {field.number} {field.name} {type_}{mark}")
            blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def main(folder: Path) -> None:
    old = TABLE.read_text()
    head = old[: old.index("\n[") + 1]
    packages, messages = from_table(old)
    told = from_reference((folder / "reference" / "apiserver-protobuf.md").read_text())
    messages |= {name: in_known_order(told[name], messages.get(name, ())) for name in told}
    new = head + written(packages, messages, Encodings(folder))
    TABLE.write_text(new)
    sys.stdout.write(f"{len(new)} characters, {'as before' if new == old else 'changed'}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
