"""Options of writes, and what is wrong with them; options of connections."""

from __future__ import annotations

import pytest

from celadon.kube import StatusError
from celadon.kube.fieldmanager.mutated_kinds import mutated_options
from celadon.kube.names import GroupVersionKind
from celadon.kube.registry.request_bodies import (
    CREATE,
    DELETE,
    PATCH,
    UPDATE,
    WriteOptions,
    connect_options,
    delete_option_errors,
    invalid_options,
    write_option_errors,
)

ROWS = [
    (WriteOptions(dry_run=("All", "All"), field_validation="Strict"), CREATE, []),
    (
        WriteOptions(dry_run=("All", "x")),
        CREATE,
        ['dryRun: Unsupported value: ["All","x"]: supported values: "All"'],
    ),
    (
        WriteOptions(field_manager="m" * 129),
        CREATE,
        ["fieldManager: Too long: may not be more than 128 bytes"],
    ),
    (
        WriteOptions(field_manager="é\n"),
        CREATE,
        ['fieldManager: Invalid value: "é\\n": invalid character U+000A (at position 2)'],
    ),
    (WriteOptions(field_manager="é" * 64), CREATE, []),
    (WriteOptions(field_validation="Ignore"), UPDATE, []),
    (WriteOptions(field_validation="Warn"), UPDATE, []),
    (WriteOptions(force=True, apply=True), CREATE, []),
    (
        WriteOptions(field_validation="x"),
        CREATE,
        [
            'fieldValidation: Unsupported value: "x": supported values: "", "Ignore", "Strict", '
            '"Warn"'
        ],
    ),
    (
        WriteOptions(apply=True),
        PATCH,
        ["fieldManager: Required value: is required for apply patch"],
    ),
    (WriteOptions(apply=True, force=True, field_manager="m"), PATCH, []),
    (
        WriteOptions(force=False),
        PATCH,
        ["force: Forbidden: may not be specified for non-apply patch"],
    ),
]


@pytest.mark.parametrize(("options", "kind", "messages"), ROWS)
def test_writes(options: WriteOptions, kind: str, messages: list[str]) -> None:
    assert [str(error) for error in write_option_errors(options, kind)] == messages


DELETIONS: list[tuple[str | None, bool | None, list[str]]] = [
    ("Background", None, []),
    ("Foreground", None, []),
    ("Orphan", None, []),
    (None, False, []),
    (
        "nope",
        None,
        [
            'propagationPolicy: Unsupported value: "nope": supported values: "Foreground", '
            '"Background", "Orphan", "nil"'
        ],
    ),
    (
        "Orphan",
        True,
        [
            'propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation '
            "cannot be both set"
        ],
    ),
]


@pytest.mark.parametrize(("policy", "orphan", "messages"), DELETIONS)
def test_deletions(policy: str | None, orphan: bool | None, messages: list[str]) -> None:
    found = delete_option_errors((), policy, orphan_dependents=orphan)
    assert [str(error) for error in found] == messages


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (CREATE, "CreateOptions"),
        (UPDATE, "UpdateOptions"),
        (PATCH, "PatchOptions"),
        (DELETE, "DeleteOptions"),
    ],
)
def test_the_answer(kind: str, name: str) -> None:
    errors = write_option_errors(WriteOptions(dry_run=("x",)), kind)
    answer = invalid_options(kind, errors)
    assert answer.code == 422
    assert answer.status.message == (
        f'{name}.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["x"]: supported '
        'values: "All"'
    )


CONNECTIONS: list[tuple[str, dict[str, list[str]], str, dict[str, object]]] = [
    (
        "PodExecOptions",
        {"command": ["ls", "-l"], "container": ["c"], "stdin": ["1"], "tty": ["False"]},
        "",
        {"stdin": True, "container": "c", "command": ["ls", "-l"]},
    ),
    (
        "PodExecOptions",
        {"command": [""], "container": [""], "stdin": [""], "stdout": ["maybe"], "tty": ["0"]},
        "",
        {"stdin": True, "stdout": True, "command": [""]},
    ),
    ("PodExecOptions", {"stdin": ["1"]}, "", {"stdin": True, "command": None}),
    ("PodAttachOptions", {"command": ["ls"], "stdout": ["true"]}, "", {"stdout": True}),
    ("PodPortForwardOptions", {"ports": ["80,443", "81"]}, "", {"ports": [80, 443, 81]}),
    ("ServiceProxyOptions", {"path": ["ignored"]}, "/a/b/", {"path": "/a/b/"}),
    ("PodProxyOptions", {}, "", {}),
    ("PodProxyOptions", {}, "/a", {"path": "/a"}),
    ("NodeProxyOptions", {}, "/a", {"path": "/a"}),
    (
        "PodAttachOptions",
        {"stdin": ["1"], "stdout": ["1"], "stderr": ["1"], "tty": ["1"], "container": ["c"]},
        "",
        {"stdin": True, "stdout": True, "stderr": True, "tty": True, "container": "c"},
    ),
    ("NoSuchOptions", {"command": ["ls"], "ports": ["1"]}, "/a", {}),
]


@pytest.mark.parametrize(("kind", "query", "path", "members"), CONNECTIONS)
def test_connections(
    kind: str, query: dict[str, list[str]], path: str, members: dict[str, object]
) -> None:
    found = connect_options(GroupVersionKind("", "v1", kind), query, path)
    assert found == {"kind": kind, "apiVersion": "v1", **members}


def test_mutated_options_are_written_anew() -> None:
    kind = GroupVersionKind("", "v1", "PodExecOptions")
    options = {"kind": "PodExecOptions", "apiVersion": "v1"}
    mutated = mutated_options({**options, "stdin": True, "tty": False, "container": ""}, kind)
    assert mutated == {**options, "stdin": True, "command": None}
    with pytest.raises(StatusError) as refused:
        mutated_options({**options, "command": ["x"]}, kind._replace(kind="PodAttachOptions"))
    assert str(refused.value).endswith('strict decoding error: unknown field "command"')


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x", 'parsing "x": invalid syntax'),
        ("-1", 'parsing "-1": invalid syntax'),
        ("80,", 'parsing "": invalid syntax'),
        ("65536", 'parsing "65536": value out of range'),
    ],
)
def test_ports_that_are_none(text: str, why: str) -> None:
    with pytest.raises(ValueError, match="cannot convert") as refused:
        connect_options(GroupVersionKind("", "v1", "PodPortForwardOptions"), {"ports": [text]})
    assert str(refused.value) == f"cannot convert to []int32: strconv.ParseUint: {why}"
