"""Delete options as they come in a body."""

from __future__ import annotations

import pytest

from celadon.kube import StatusError
from celadon.kube.registry import read_delete_options

READ: list[tuple[str, dict[str, object]]] = [
    ("{}", {}),
    ("null", {}),
    ('{"zap":1,"gracePeriodSeconds":5}', {"gracePeriodSeconds": 5}),
    ('{"apiVersion":"apps/v1","kind":"DeleteOptions","dryRun":["All"]}', {"dryRun": ["All"]}),
    ('{"orphanDependents":null,"preconditions":{"uid":"u"}}', {"preconditions": {"uid": "u"}}),
]


@pytest.mark.parametrize(("body", "members"), READ)
def test_members(body: str, members: dict[str, object]) -> None:
    found = read_delete_options(body.encode())
    assert {key: found[key] for key in members} == members
    assert "zap" not in found


REFUSED = [
    ("{", "couldn't get version/kind; json parse error: unexpected end of JSON input"),
    ('{"kind":5}', "cannot unmarshal number into Go struct field .kind of type string"),
    ("[]", "cannot unmarshal array into Go value of type struct"),
    (
        '{"kind":"Pod","apiVersion":"v1"}',
        'no kind "Pod" is registered for version "v1" in scheme '
        '"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"',
    ),
    (
        '{"gracePeriodSeconds":"x"}',
        "json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of "
        "type int64",
    ),
]


@pytest.mark.parametrize(("body", "why"), REFUSED)
def test_what_cannot_be_read(body: str, why: str) -> None:
    with pytest.raises(StatusError) as refused:
        read_delete_options(body.encode())
    assert refused.value.code == 400
    assert why in str(refused.value)
