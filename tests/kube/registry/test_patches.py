"""JSON patch and merge patch: what they do, and what is said when they do not apply."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube.go.go_text import json_text
from celadon.kube.registry.patches import (
    JsonPatchError,
    JsonPatchTestFailed,
    apply_json_patch,
    apply_merge_patch,
    read_patch,
)
from celadon.kube.releases import answering_as

DOCUMENT: dict[str, Any] = {"a": {"b": 1}, "l": [1, 2, 3], "n": None, "x/y": {"~": "t"}}


@pytest.mark.parametrize(
    ("operation", "path", "want"),
    [
        ({"op": "add", "path": "/a/c", "value": 2}, "a", {"b": 1, "c": 2}),
        ({"op": "add", "path": "/a/b", "value": 2}, "a", {"b": 2}),
        ({"op": "add", "path": "/a/c"}, "a", {"b": 1, "c": None}),
        ({"op": "add", "path": "ignored/c", "value": 2}, "c", 2),
        ({"op": "add", "path": "/l/-", "value": 4}, "l", [1, 2, 3, 4]),
        ({"op": "add", "path": "/l/0", "value": 4}, "l", [4, 1, 2, 3]),
        ({"op": "add", "path": "/l/-1", "value": 4}, "l", [1, 2, 3, 4]),
        ({"op": "add", "path": "/l/-4", "value": 4}, "l", [4, 1, 2, 3]),
        ({"op": "add", "path": "/l/+01", "value": 4}, "l", [1, 4, 2, 3]),
        ({"op": "add", "path": "/x~1y/~0", "value": 4}, "x/y", {"~": 4}),
        ({"op": "remove", "path": f"/l/{'0' * 70}1"}, "l", [1, 3]),
        ({"op": "remove", "path": f"/l/-{'0' * 5000}1"}, "l", [1, 2]),
        ({"op": "remove", "path": "/l/-0"}, "l", [2, 3]),
        ({"op": "remove", "path": "/a/b"}, "a", {}),
        ({"op": "remove", "path": "/l/-1"}, "l", [1, 2]),
        ({"op": "replace", "path": "/l/-3", "value": 9}, "l", [9, 2, 3]),
        ({"op": "replace", "path": "/a/new", "value": 9}, "a", {"b": 1, "new": 9}),
        ({"op": "move", "from": "/a/b", "path": "/l/1"}, "l", [1, 1, 2, 3]),
        ({"op": "copy", "from": "/a", "path": "/l/-"}, "l", [1, 2, 3, {"b": 1}]),
        ({"op": "copy", "from": "/nope", "path": "/a/c"}, "a", {"b": 1, "c": None}),
        ({"op": "test", "path": "/a", "value": {"b": 1}}, "n", None),
        ({"op": "test", "path": "/nope", "value": None}, "n", None),
        ({"op": "test", "path": "/nope"}, "n", None),
    ],
)
def test_applies(operation: dict[str, Any], path: str, want: Any) -> None:
    before = json.dumps(DOCUMENT)
    assert apply_json_patch(DOCUMENT, [operation])[path] == want
    assert json.dumps(DOCUMENT) == before


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ({"op": "REMOVE", "path": "/a"}, "Unexpected kind: REMOVE"),
        ({"path": "/a"}, "Unexpected kind: unknown"),
        ({"op": "add", "value": 1}, "add operation failed to decode path: missing value"),
        (
            {"op": "add", "path": "/q/r", "value": 1},
            'add operation does not apply: doc is missing path: "/q/r": missing value',
        ),
        (
            {"op": "add", "path": "", "value": 1},
            'add operation does not apply: doc is missing path: "": missing value',
        ),
        (
            {"op": "add", "path": "/a/b/c", "value": 1},
            'add operation does not apply: doc is missing path: "/a/b/c": missing value',
        ),
        (
            {"op": "add", "path": "/l/x", "value": 1},
            "error in add for path: '/l/x': value was not a proper array index: 'x': "
            'strconv.Atoi: parsing "x": invalid syntax',
        ),
        (
            {"op": "add", "path": "/l/5", "value": 1},
            "error in add for path: '/l/5': Unable to access invalid index: 5: invalid index "
            "referenced",
        ),
        (
            {"op": "remove", "path": "/q/r"},
            'remove operation does not apply: doc is missing path: "/q/r": missing value',
        ),
        (
            {"op": "remove", "path": "/a/x~1y"},
            "error in remove for path: '/a/x~1y': Unable to remove nonexistent key: x/y: missing "
            "value",
        ),
        (
            {"op": "remove", "path": "/l/-"},
            "error in remove for path: '/l/-': strconv.Atoi: parsing \"-\": invalid syntax",
        ),
        (
            {"op": "remove", "path": "/l/9223372036854775808"},
            "error in remove for path: '/l/9223372036854775808': strconv.Atoi: parsing "
            '"9223372036854775808": value out of range',
        ),
        (
            {"op": "remove", "path": "/l/-9223372036854775809"},
            "error in remove for path: '/l/-9223372036854775809': strconv.Atoi: parsing "
            '"-9223372036854775809": value out of range',
        ),
        (
            {"op": "remove", "path": f"/l/{'1' * 70}"},
            f"error in remove for path: '/l/{'1' * 70}': strconv.Atoi: parsing \"{'1' * 70}\": "
            "value out of range",
        ),
        (
            {"op": "remove", "path": "/l/-9223372036854775808"},
            "error in remove for path: '/l/-9223372036854775808': Unable to access invalid index: "
            "-9223372036854775808: invalid index referenced",
        ),
        (
            {"op": "remove", "path": "/l/9223372036854775807"},
            "error in remove for path: '/l/9223372036854775807': Unable to access invalid index: "
            "9223372036854775807: invalid index referenced",
        ),
        (
            {"op": "replace", "path": "/q/r", "value": 1},
            "replace operation does not apply: doc is missing path: /q/r: missing value",
        ),
        (
            {"op": "replace", "path": "/l/3", "value": 1},
            "replace operation does not apply: doc is missing key: /l/3: missing value",
        ),
        (
            {"op": "replace", "path": "", "value": 1},
            "replace operation value must be object or array: %!w(<nil>)",
        ),
        (
            {"op": "move", "path": "/a"},
            "move operation failed to decode from: operation, missing from field: missing value",
        ),
        (
            {"op": "move", "from": "/a/nope", "path": "/b"},
            "error in move for path: 'nope': Unable to remove nonexistent key: nope: missing value",
        ),
        (
            {"op": "move", "from": "/a", "path": "/a/b"},
            "move operation does not apply: doc is missing destination path: /a/b: missing value",
        ),
        (
            {"op": "copy", "from": "/q/r", "path": "/b"},
            "copy operation does not apply: doc is missing from path: /q/r: missing value",
        ),
        (
            {"op": "test", "path": "/q/r", "value": 1},
            "test operation does not apply: is missing path: /q/r: missing value",
        ),
        (
            {"op": "move", "from": "/q/r", "path": "/b"},
            "move operation does not apply: doc is missing from path: /q/r: missing value",
        ),
        (
            {"op": "move", "from": "/l/3", "path": "/b"},
            "error in move for path: '3': Unable to access invalid index: 3: invalid index "
            "referenced",
        ),
        (
            {"op": "move", "from": "/l/0", "path": "/l/3"},
            "error in move for path: '/l/3': Unable to access invalid index: 3: invalid index "
            "referenced",
        ),
        (
            {"op": "copy", "from": "/l/3", "path": "/b"},
            "error in copy for from: '/l/3': Unable to access invalid index: 3: invalid index "
            "referenced",
        ),
        (
            {"op": "copy", "from": "/a", "path": "/l/-5"},
            "error while adding value during copy: Unable to access invalid index: -5: invalid "
            "index referenced",
        ),
        (
            {"op": "copy", "from": "/a", "path": "/q/r"},
            "copy operation does not apply: doc is missing destination path: /q/r: missing value",
        ),
        (
            {"op": "test", "path": "/l/3", "value": 1},
            "error in test for path: '/l/3': Unable to access invalid index: 3: invalid index "
            "referenced",
        ),
        ({"op": "test", "path": "", "value": {}}, "testing value  failed: test failed"),
        ({"op": "add", "path": 5}, "add operation failed to decode path: missing value"),
        ({"op": "remove"}, "remove operation failed to decode path: missing value"),
        ({"op": "replace"}, "replace operation failed to decode path: missing value"),
        ({"op": "move", "from": "/a"}, "move operation failed to decode path: missing value"),
        ({"op": "copy", "from": "/a"}, "copy operation failed to decode path: missing value"),
        ({"op": "test"}, "test operation failed to decode path: missing value"),
        (
            {"op": "copy", "path": "/a"},
            "copy operation failed to decode from: operation, missing from field: missing value",
        ),
        ({"op": "test", "path": "/a/b", "value": 1.0}, "testing value /a/b failed: test failed"),
        ({"op": "test", "path": "/a/b", "value": True}, "testing value /a/b failed: test failed"),
    ],
)
def test_refused(operation: dict[str, Any], message: str) -> None:
    with pytest.raises(JsonPatchError) as error:
        apply_json_patch(DOCUMENT, [operation])
    assert str(error.value) == message


@pytest.mark.usefixtures("usual_calls")
def test_deep_documents_are_refused() -> None:
    deep: Any = {}
    for _ in range(5000):
        deep = {"a": deep}
    with pytest.raises(JsonPatchError, match=r"^exceeded max depth$"):
        apply_json_patch({}, [{"op": "add", "path": "/a", "value": deep}])
    with pytest.raises(JsonPatchError, match=r"^exceeded max depth$"):
        apply_merge_patch(deep, deep)


@pytest.mark.parametrize(
    "operations",
    [
        [{"op": "replace", "path": "/a/b/c", "value": 2}],
        [{"op": "add", "path": "/a/l/-", "value": 2}, {"op": "remove", "path": "/a/l/0"}],
        [{"op": "replace", "path": "/a/l/-1/k", "value": 2}],
        [
            {"op": "test", "path": "", "value": {"a": {"b": {"c": 1}, "l": [{"k": 1}]}, "z": {}}},
            {"op": "move", "from": "/a/b", "path": "/z/b"},
            {"op": "replace", "path": "/z/b/c", "value": 2},
        ],
        [
            {"op": "copy", "from": "/a/l", "path": "/z/l"},
            {"op": "replace", "path": "/z/l/0/k", "value": 2},
        ],
    ],
)
def test_the_document_stays_as_it_is(operations: list[dict[str, Any]]) -> None:
    document = {"a": {"b": {"c": 1}, "l": [{"k": 1}]}, "z": {}}
    before = copy.deepcopy(document)
    assert apply_json_patch(document, operations) != before
    assert document == before


def test_failed_tests_can_be_told_apart() -> None:
    with pytest.raises(JsonPatchTestFailed):
        apply_json_patch(DOCUMENT, [{"op": "test", "path": "/a", "value": 1}])


def test_whole_document_and_order() -> None:
    operations: list[dict[str, Any]] = [
        {"op": "replace", "path": "", "value": {"z": []}},
        {"op": "add", "path": "/z/-", "value": {"k": 1}},
        {"op": "copy", "from": "/z/0", "path": "/z/-"},
        {"op": "replace", "path": "/z/1/k", "value": 2},
    ]
    assert apply_json_patch(DOCUMENT, operations) == {"z": [{"k": 1}, {"k": 2}]}


def test_copies_are_limited() -> None:
    operation = {"op": "copy", "from": "/a", "path": "/c"}
    assert apply_json_patch(DOCUMENT, [operation], copy_limit=7)["c"] == {"b": 1}
    with pytest.raises(JsonPatchError) as error:
        apply_json_patch(DOCUMENT, [operation, operation], copy_limit=7)
    assert str(error.value) == (
        "Unable to complete the copy, the accumulated size increase of copy is 14, exceeding the "
        "limit 7"
    )


@pytest.mark.parametrize(
    ("document", "patch", "want"),
    [
        ({"a": 1, "b": 2}, {"a": None, "c": 3}, {"b": 2, "c": 3}),
        ({"a": {"x": 1}}, {"a": {"y": 2, "x": None}}, {"a": {"y": 2}}),
        ({}, {"a": {"b": None, "c": [None, {"d": None}]}}, {"a": {"c": [None, {}]}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": 1}, {"a": {"b": None}}, {"a": {}}),
        ({"a": {"b": 1}}, {"a": [{"c": None}]}, {"a": [{"c": None}]}),
        ({"a": None}, {"a": {"b": 1}}, {"a": {"b": 1}}),
    ],
)
def test_merge(document: Any, patch: Any, want: Any) -> None:
    before = json.dumps([document, patch])
    assert apply_merge_patch(document, patch) == want
    assert json.dumps([document, patch]) == before


SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=3)
OBJECTS = st.dictionaries(
    st.sampled_from("abc"),
    st.recursive(
        SCALARS,
        lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
        max_leaves=8,
    ),
)


@given(OBJECTS, OBJECTS)
def test_merging_twice_changes_nothing_more(document: Any, patch: Any) -> None:
    """True only without lists: objects in a list keep their nulls when they replace an object."""
    once = apply_merge_patch(document, patch)
    assert apply_merge_patch(once, patch) == once


UNSORTED: dict[str, Any] = {"b": {"d": {"z": 1, "a": 2}, "c": 1}, "a": [{"y": 1, "x": 2}]}

ORDERS = [
    ([], '{"a":[{"y":1,"x":2}],"b":{"d":{"z":1,"a":2},"c":1}}'),
    (
        [{"op": "remove", "path": "/b/c"}],
        '{"a":[{"y":1,"x":2}],"b":{"d":{"z":1,"a":2}}}',
    ),
    (
        [{"op": "add", "path": "/b/d/m", "value": {"q": 1, "p": 2}}],
        '{"a":[{"y":1,"x":2}],"b":{"c":1,"d":{"a":2,"m":{"q":1,"p":2},"z":1}}}',
    ),
    (
        [{"op": "test", "path": "/a", "value": [{"x": 2, "y": 1}]}],
        '{"a":[{"x":2,"y":1}],"b":{"d":{"z":1,"a":2},"c":1}}',
    ),
    (
        [{"op": "remove", "path": "/a/0/x"}, {"op": "copy", "from": "/b", "path": "/a/-"}],
        '{"a":[{"y":1},{"d":{"z":1,"a":2},"c":1}],"b":{"d":{"z":1,"a":2},"c":1}}',
    ),
    (
        [{"op": "copy", "from": "/b", "path": "/b/c"}],
        '{"a":[{"y":1,"x":2}],"b":{"c":{"c":1,"d":{"z":1,"a":2}},"d":{"z":1,"a":2}}}',
    ),
    (
        [{"op": "remove", "path": "/b/d/z"}, {"op": "move", "from": "/b", "path": "/0"}],
        '{"0":{"c":1,"d":{"a":2}},"a":[{"y":1,"x":2}]}',
    ),
    ([{"op": "replace", "path": "", "value": UNSORTED["b"]}], '{"c":1,"d":{"z":1,"a":2}}'),
    (
        [{"op": "test", "path": "", "value": UNSORTED}],
        '{"a":[{"x":2,"y":1}],"b":{"c":1,"d":{"a":2,"z":1}}}',
    ),
]


@pytest.mark.parametrize(("operations", "written"), ORDERS)
def test_objects_are_sorted_if_they_were_looked_into(operations: Any, written: str) -> None:
    assert json_text(apply_json_patch(UNSORTED, operations, as_written=True)) == written


@pytest.mark.parametrize(
    ("patch", "written"),
    [
        ({}, '{"a":[{"y":1,"x":2}],"b":{"d":{"z":1,"a":2},"c":1}}'),
        ({"b": {"c": 2}}, '{"a":[{"y":1,"x":2}],"b":{"c":2,"d":{"z":1,"a":2}}}'),
        ({"b": None, "a": [{"n": {"y": 1, "x": 2}}]}, '{"a":[{"n":{"x":2,"y":1}}]}'),
        ({"b": None, "0": {"y": 1, "x": 2}}, '{"0":{"x":2,"y":1},"a":[{"y":1,"x":2}]}'),
        ({"b": [{"y": 1, "x": 2}]}, '{"a":[{"y":1,"x":2}],"b":[{"y":1,"x":2}]}'),
        ([{"b": None, "a": 1}], '[{"a":1}]'),
    ],
)
def test_a_merge_sorts_what_it_looks_into(patch: Any, written: str) -> None:
    """A list in the place of an object is taken as it comes; anything else loses nulls."""
    assert json_text(apply_merge_patch(UNSORTED, patch, as_written=True)) == written


def test_members_keep_their_places_for_everybody_else() -> None:
    operations = [{"op": "test", "path": "", "value": UNSORTED}]
    assert json_text(apply_json_patch(UNSORTED, operations)) == json_text(UNSORTED)
    assert json_text(apply_merge_patch(UNSORTED, {"b": {"c": 1}})) == json_text(UNSORTED)


@pytest.mark.parametrize(("member", "holds"), [({"value": None}, False), ({}, True)])
def test_no_test_for_a_null_holds_in_operations_that_were_made(
    member: dict[str, Any], holds: bool
) -> None:
    operation = {"op": "test", "path": "/n", **member}
    apply_json_patch(DOCUMENT, [operation])
    if holds:
        apply_json_patch(DOCUMENT, [operation], raw_nulls=True)
    else:
        with pytest.raises(JsonPatchTestFailed):
            apply_json_patch(DOCUMENT, [operation], raw_nulls=True)
    other = {"op": "test", "path": "/a/b", "value": 1}
    apply_json_patch(DOCUMENT, [other], raw_nulls=True)


WRITTEN: list[tuple[str, str, bool]] = [
    ('"a"', '"a"', True),
    ('"a"', r'"\u0061"', False),
    ('["a"]', r'["\u0061"]', False),
    ('{"k":"a"}', r'{"k":"\u0061"}', False),
]


@pytest.mark.parametrize(("kept", "tested", "holds"), WRITTEN)
def test_texts_are_compared_as_they_are_written(kept: str, tested: str, holds: bool) -> None:
    document = {"v": json.loads(kept)}
    operations = read_patch(f'[{{"op":"test","path":"/v","value":{tested}}}]').value
    if holds:
        apply_json_patch(document, operations)
    else:
        with pytest.raises(JsonPatchTestFailed):
            apply_json_patch(document, operations)


@pytest.mark.parametrize(
    "text", ['"op"', "[5]", "[null]", '[{"op":"add","path":"/a","value":"b"}]']
)
def test_other_patches_are_read_as_json(text: str) -> None:
    assert read_patch(text).value == json.loads(text)


def test_whole_documents_could_not_become_scalars_silently() -> None:
    with answering_as("1.34"):
        assert apply_json_patch(DOCUMENT, [{"op": "replace", "path": "", "value": 1}]) == DOCUMENT
