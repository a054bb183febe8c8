"""The tests mirror the source: `tests/kube/go/test_go_url.py` tests `celadon.kube.go.go_url`.

A test of a whole package stands beside its folder: `tests/kube/library/test_networks.py`. What
tests no single module or package stands in a folder of its own (`conformance`, `recorded`,
`properties`, ...) or in the list below, with the reason.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.rooms import MAY_USE
from tests.architecture.source_tree import MODULES

TESTS = Path(__file__).resolve().parent.parent

UNMIRRORED: dict[str, str] = {
    "serve/test_nothing_stays.py": "what no request may leave behind",
    "serve/test_slow_requests.py": "what no request may do to others",
    "cli/language_server/test_long_sessions.py": "what the server does over time, with a client",
    "cli/language_server/test_neovim.py": "a session of another program",
    "admission/lint/rules/test_finding_texts.py": "what all rules say, word for word",
    "cli/auditing/etcd_snapshots/test_real_snapshots.py": "what etcd itself has written",
    "cli/report/test_report_schemas.py": "reports of all commands against schemas",
    "cel/codegen/test_blocks_and_objects.py": "every way to run them, side by side",
    "cel/codegen/test_accidents.py": "answers of both variants that nobody planned",
    "cel/codegen/test_user_names.py": "names of users, in every macro",
    "cel/codegen/test_variants.py": "one row for each branch of every emitter, plain and metered",
    "cel/library/test_examples.py": "the examples in the records of all libraries",
    "cel/re2/test_engines.py": "all ways to run a pattern agree",
    "cel/re2/test_hostile.py": "the work of all ways to run a pattern is bounded",
    "cel/re2/test_recorded.py": "answers of a real server",
    "cel/test_golden_cases.py": "tests/cases/cel: an expression on its way through the room",
    "kube/apply/test_policy_merges.py": "merges of policies and of server-side apply, side by side",
    "kube/apply/typed/test_walks.py": "comparing, merging and removing, of the same values",
    "kube/custom/test_recorded.py": "answers of a real server",
    "kube/defaulting/test_recorded.py": "answers of a real server",
    "kube/library/test_examples.py": "the examples in the records of all libraries",
    "kube/protobuf/test_hostile_bytes.py": "reading any bytes, through all layers",
    "kube/protobuf/test_independent_reader.py": "what is written, read by another library",
    "kube/protobuf/test_round_trips.py": "reading what was written, of every kind",
    "kube/validation/test_damaged.py": "objects of all kinds, damaged",
    "store/test_crash.py": "a process that writes is killed",
    "store/test_model.py": "every store against a model",
    "webhook/handlers/test_asked_by_servers.py": "one application, by all who can ask it",
}
"""Test modules in a room that test no single module or package."""

MODULES_IN_ROOMS = sorted(
    path.relative_to(TESTS).as_posix()
    for room in MAY_USE
    for path in (TESTS / room).rglob("test_*.py")
)


@pytest.mark.parametrize("path", MODULES_IN_ROOMS)
def test_a_test_stands_where_its_module_stands(path: str) -> None:
    assert (_mirrored(path) in MODULES) != (path in UNMIRRORED), f"{_mirrored(path)} is not there"


def test_exceptions_exist() -> None:
    assert UNMIRRORED.keys() - set(MODULES_IN_ROOMS) == set()


def _mirrored(path: str) -> str:
    folder, _, name = path.removesuffix(".py").rpartition("/")
    return ".".join(["celadon", *folder.split("/"), name.removeprefix("test_")])
