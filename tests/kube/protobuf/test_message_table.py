"""The table of messages says the same as the OpenAPI documents and the defaulting tables."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import pytest

from celadon.kube.protobuf import MessageField, kinds, message_fields, message_of
from celadon.kube.releases import answering_as
from celadon.kube.resources import known_resources
from celadon.kube.schemas import schema_packs

PREFIXES = {
    "meta.v1": "io.k8s.apimachinery.pkg.apis.meta.v1.",
    "apiextensions.v1": "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.",
    "apiregistration.v1": "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.",
}
_DEVICES = ("resource.v1", "resource.v1beta1", "resource.v1beta2")
LETTERS = {"string": "s", "bytes": "y", "bool": "b", "int32": "i", "int64": "l", "double": "d"}
OTHER_REFERENCES = {
    "intstr.IntOrString": "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
    "resource.Quantity": "io.k8s.apimachinery.pkg.api.resource.Quantity",
    "runtime.RawExtension": "io.k8s.apimachinery.pkg.runtime.RawExtension",
}
WRAPPED = "ExtraValue", "Verbs"
ALTERNATIVES = re.compile("JSONSchemaPropsOr")


def openapi_name(message: str) -> str:
    package, _, name = message.rpartition(".")
    return PREFIXES.get(package, f"io.k8s.api.{package}.") + name


def messages() -> list[str]:
    """All that kinds reach and the OpenAPI documents have under a name."""
    waiting, found = sorted(kinds().values()), dict[str, None]()
    pack = schema_packs.load("schemas")
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found[name] = None
        for field in message_fields(name):
            if field.type not in LETTERS and pack.get(openapi_name(field.type), {}).get("fields"):
                waiting.append(field.type)
    return [
        name
        for name in sorted(found)
        if pack.get(openapi_name(name), {}).get("fields") and not ALTERNATIVES.search(name)
    ]


def flat_fields(name: str) -> list[MessageField]:
    found: list[MessageField] = []
    for field in message_fields(name):
        found.extend(flat_fields(field.type) if field.inline else [field])
    return found


@pytest.mark.parametrize("name", messages())
def test_fields_are_those_of_the_schema(name: str) -> None:
    entry = schema_packs.load("schemas")[openapi_name(name)]
    schema = dict(entry["fields"])
    if "metadata" in schema or name.startswith("meta.v1."):
        for key in ("apiVersion", "kind"):
            if not any(field.name == key for field in flat_fields(name)):
                schema.pop(key, None)
    found = {field.name: field for field in flat_fields(name)}
    assert set(found) == set(schema)
    for key, node in schema.items():
        assert shape(node) == wanted_shape(found[key]), key
    pointers = set(entry.get("ptr", ()))
    scalars = {key for key, field in found.items() if field.type in LETTERS}
    optional = {key for key in scalars if found[key].optional and found[key].type != "bytes"}
    assert optional == {key for key in pointers & scalars if found[key].type != "bytes"}


def shape(node: Any) -> Any:
    """A node of the schema pack as (container, type)."""
    if isinstance(node, str):
        return "", node
    if "items" in node:
        return "list", shape(node["items"])[1]
    if "values" in node:
        inner = shape(node["values"])
        return "map", "list" if inner[0] else inner[1]
    if "ref" in node:
        return "", node["ref"]
    return "", node.get("type") or node.get("scalar")


def wanted_shape(field: MessageField) -> Any:
    wrapped = field.type.endswith(WRAPPED)
    type_ = LETTERS.get(field.type) or OTHER_REFERENCES.get(field.type) or openapi_name(field.type)
    if wrapped and field.mapped:
        return "map", "list"
    if wrapped:
        return "list", "s"
    return "list" if field.repeated else "map" if field.mapped else "", type_


def test_numbers_are_unique() -> None:
    for name in messages():
        numbers = [field.number for field in message_fields(name)]
        assert len(numbers) == len(set(numbers)), name


def test_fields_stand_in_the_order_of_gos_structs() -> None:
    """Late fields have high numbers and stand among the others."""
    names = [field.name for field in message_fields("core.v1.Container")]
    policy = names.index("terminationMessagePolicy")
    assert names[policy - 1] == "terminationMessagePath"
    assert names[policy + 1 : policy + 3] == ["imagePullPolicy", "securityContext"]
    assert [field.name for field in message_fields("meta.v1.OwnerReference")][:2] == [
        "apiVersion",
        "kind",
    ]


def test_numbers_of_one_message_differ_between_versions() -> None:
    """v1beta1 leaves 6 out, as upstream does."""
    by_version = {
        version: {
            field.name: field.number for field in message_fields(f"{version}.DeviceSubRequest")
        }
        for version in _DEVICES
    }
    assert by_version["resource.v1beta1"]["tolerations"] == 7
    assert by_version["resource.v1beta1"]["capacity"] == 8
    assert by_version["resource.v1"]["tolerations"] == 6


JSON_ONLY = ("WatchEvent", "ConversionReview")
"""What a server writes itself, or sends to webhooks."""


def test_every_kind_of_the_covered_groups_is_there() -> None:
    covered = {gvk.group_version for gvk in kinds()}
    for entry in schema_packs.load("schemas").values():
        if "gvk" in entry and (entry["gvk"][0], entry["gvk"][1]) in covered:
            group, version, kind = entry["gvk"]
            assert kind in JSON_ONLY or any(
                (gvk.group, gvk.version, gvk.kind) == (group, version, kind) for gvk in kinds()
            ), entry["gvk"]


def test_statuses_are_of_v1_only() -> None:
    status = next(gvk for gvk in kinds() if gvk.kind == "Status")
    assert str(status) == "/v1, Kind=Status"
    assert message_of(status._replace(group="meta.k8s.io")) is None


def test_the_table_loads_quickly() -> None:
    """Reading it all takes a few milliseconds of the processor; ten times that is allowed here."""
    code = (
        "import celadon.kube.protobuf as p, time; started = time.process_time(); p.kinds();"
        "p.message_fields('core.v1.Pod'); print(time.process_time() - started)"
    )

    def seconds() -> float:
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        return float(ran.stdout)

    assert min(seconds() for _ in range(3)) < 0.05


@pytest.mark.parametrize("release", [f"1.{minor}" for minor in range(30, 37)])
def test_each_kind_has_a_message(release: str) -> None:
    with answering_as(release):
        served = {resource.gvk for resource in known_resources(all_versions=True)}
        assert served <= kinds().keys()


def test_structs_without_fields_are_messages_too() -> None:
    assert message_fields("apiserverinternal.v1alpha1.StorageVersionSpec") == ()
