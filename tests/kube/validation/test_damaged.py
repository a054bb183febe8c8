"""Objects with anything anywhere: complaints, never anything else."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from celadon.kube import StatusError, metadata
from celadon.kube.schemas.value_decoding import DecodeError
from tests.examples import examples
from tests.kube.validation import (
    test_api_services,
    test_config_data,
    test_controllers,
    test_events,
    test_flow_control,
    test_leases,
    test_nodes_and_runtime_classes,
    test_resource_claims,
    test_resource_slices,
    test_stored_versions,
    test_trust_bundles,
)
from tests.kube.validation.networking import (
    test_endpoint_slices,
    test_service_ranges,
    test_services,
)
from tests.kube.validation.objects import admitted, complaints, container, pod, update_complaints
from tests.kube.validation.pods import test_pod_specs, test_remote_volumes
from tests.kube.validation.storage import (
    test_persistent_volumes,
    test_storage_classes,
    test_storage_drivers,
)

OBJECTS = [
    *(pod(container(**fields)) for fields, _ in test_pod_specs.CONTAINERS),
    *(pod(**fields) for fields, _ in test_pod_specs.SPECS),
    *(value for value, _ in test_controllers.WORKLOADS),
    *(value for value, _ in test_controllers.JOBS),
    *(test_controllers.cron_job(**fields) for fields, _ in test_controllers.CRON_JOBS),
    *(test_services.service(**fields) for fields, _ in test_services.SERVICES),
    *(value for value, _ in test_services.INGRESSES),
    *(test_services.policy(**fields) for fields, _ in test_services.POLICIES),
    *(value for value, _ in test_config_data.ROWS),
    *(pod(volumes=[{"name": "v", kind: one}]) for kind, one in test_remote_volumes.GOOD.items()),
    *test_api_services.GOOD,
    *test_endpoint_slices.GOOD,
    *test_events.GOOD,
    *test_flow_control.GOOD,
    *test_leases.GOOD,
    *test_nodes_and_runtime_classes.GOOD,
    *test_persistent_volumes.GOOD,
    *test_resource_claims.GOOD,
    *test_resource_slices.GOOD,
    *test_service_ranges.GOOD,
    *test_storage_classes.GOOD,
    *test_storage_drivers.GOOD,
    *test_stored_versions.GOOD,
    *test_trust_bundles.GOOD,
]
VALUES: list[Any] = [
    "", "x", "A_b", "-1", "1Gi", "a/b/c", "..", "*", "10.0.0.1", "5%", "Always", "é",
    0, -1, 99999, 2**31 - 1, True, None, [], {}, ["a"], {"a": "b"}, [{}], [{"name": "a"}],
]  # fmt: skip
OWNER = [{"controller": True}, {"apiVersion": "v1", "kind": "Event"}]


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    members: Any = ()
    if isinstance(value, dict):
        members = value.items()
    elif isinstance(value, list):
        members = enumerate(value)
    for key, member in members:
        yield (*above, key)
        yield from places(member, (*above, key))


def damaged(value: dict[str, Any], where: int, what: Any) -> dict[str, Any]:
    made = copy.deepcopy(value)
    found = [one for one in places(made) if one[0] not in {"apiVersion", "kind"}]
    *path, last = found[where % len(found)]
    parent: Any = made
    for key in path:
        parent = parent[key]
    parent[last] = copy.deepcopy(what)
    return made


@settings(max_examples=examples(150), deadline=None)
@given(st.sampled_from(OBJECTS), st.lists(st.tuples(st.integers(0, 400), st.sampled_from(VALUES))))
def test_damaged_objects(value: dict[str, Any], damages: list[tuple[int, Any]]) -> None:
    made = value
    for where, what in damages[:3]:
        made = damaged(made, where, what)
    if not isinstance(made["metadata"], dict):
        return
    try:
        admitted(made)
    except (DecodeError, StatusError):
        return
    assert all(isinstance(one, str) for one in complaints(made))
    if metadata.name(made):
        update_complaints(made, value)


def test_owners_that_say_little() -> None:
    value = pod()
    value["metadata"]["ownerReferences"] = OWNER
    found = complaints(value)
    assert 'metadata.ownerReferences.uid: Invalid value: "": must not be empty' in found
