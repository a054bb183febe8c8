"""`celadon audit --fleet`: one report, whoever works on it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from celadon.cli.audit import fleet_parts, fleet_run
from celadon.cli.exit_codes import Exit
from celadon.testing import KubeApi
from tests.cli.audit.dumps import Json, json_lines, kubectl_json, written
from tests.cli.audit.fleets import config_map, fleet_file, report, written_fleet
from tests.cli.files import Celadon, binding, policy, run, write
from tests.cli.files import config_map as manifest
from tests.examples import examples
from tests.paths import ROOT


def found(told: Any) -> list[tuple[str, str]]:
    return [
        (one["name"], row["object"]["name"]) for one in told["sources"] for row in one["results"]
    ]


def test_a_table_for_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet_file(
        tmp_path,
        east=[config_map("a"), config_map("b", "ok")],
        west=[config_map("c", "ok"), written("Pod", "p")],
    )
    base = ("-f", str(tmp_path / "p.json"), "--fleet", str(tmp_path / "fleet.yaml"))
    code, out, err = run(capsys, "audit", *base)
    assert (code, err) == (1, "")
    assert out.replace(f"{tmp_path}/", "") == (
        "== east\n"
        "\n"
        "limit/limit\n"
        "  rule    p.json:30  spec.validations[0].expression\n"
        "  deny    east.jsonl:1  ConfigMap default/a: failed expression: object.data.x == 'ok'\n"
        "\n"
        "SOURCE  MATCHED   DENIED   WARNED  AUDITED   ERRORS\n"
        "east          2        1        0        0        0\n"
        "west          1        0        0        0        0\n"
        "\n"
        "POLICY  MATCHED   DENIED   WARNED  AUDITED   ERRORS\n"
        "limit         3        1        0        0        0\n"
        "\n"
        "2 sources, 4 objects, 3 matched by policies: 1 would be denied, 0 warned about, "
        "0 audited\n"
    )


OBJECTS = st.lists(
    st.tuples(st.sampled_from(["no", "ok"]), st.sampled_from(["shop", "bank", "default"])),
    max_size=25,
)


@pytest.mark.thorough
@settings(
    max_examples=examples(15),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(sources=st.lists(OBJECTS, min_size=1, max_size=3), part=st.integers(200, 4000))
def test_workers_and_cuts_change_nothing(
    sources: list[list[tuple[str, str]]],
    part: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = {
        f"s{number}": [config_map(f"c{n}", value, space) for n, (value, space) in enumerate(one)]
        for number, one in enumerate(sources)
    }
    fleet_file(tmp_path, **made)
    words = ("audit", "-f", str(tmp_path / "p.json"), "--summary-by", "namespace")
    whole = (*words, "--fleet", str(tmp_path / "fleet.yaml"))
    for form in ("json", "jsonl", "table"):
        alone = run(capsys, *whole, "-o", form, "--jobs", "1")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fleet_parts, "PART_BYTES", part)
            patch.setattr("celadon.cli.audit.audit_blocks.CHUNK", part)
            patch.setattr("celadon.cli.audit.audit_blocks._PEEKED", 64)
            patch.setattr("celadon.cli.audit.audit_inputs._WHOLE", 0)
            assert run(capsys, *whole, "-o", form, "--jobs", "2") == alone
    _, out, _ = run(capsys, *whole, "-o", "json")
    for one in json.loads(out)["sources"]:
        dump = str(tmp_path / f"{one.pop('name')}.jsonl")
        _, single, _ = run(capsys, *words, "-o", "json", dump)
        expected = json.loads(single)
        del expected["apiVersion"], expected["kind"]
        assert one == expected


def test_the_limit_of_violations_is_that_of_the_fleet(tmp_path: Path, celadon: Celadon) -> None:
    rows = [config_map(f"c{n}") for n in range(3)]
    fleet_file(tmp_path, a=rows, b=rows)
    _, told = report(celadon, tmp_path, "--max-results", "4")
    assert found(told) == [("a", "c0"), ("a", "c1"), ("a", "c2"), ("b", "c0")]
    assert told["summary"]["violations"] == 6


@pytest.mark.parametrize(
    ("kinds", "words", "code"),
    [
        (("ConfigMap", "Secret"), ("--strict",), Exit.OK),
        (("Secret", "Secret"), ("--strict",), Exit.POLICY),
        (("Secret", "Secret"), (), Exit.OK),
    ],
)
def test_a_policy_is_used_that_any_source_has_an_object_for(
    tmp_path: Path, celadon: Celadon, kinds: tuple[str, str], words: tuple[str, ...], code: Exit
) -> None:
    a, b = (written(kind, "a", data={"x": "ok"}) for kind in kinds)
    fleet_file(tmp_path, a=[a], b=[b])
    assert report(celadon, tmp_path, *words)[0] == code


def test_what_cannot_be_read_is_said_and_the_others_are_audited(
    tmp_path: Path, celadon: Celadon
) -> None:
    fleet_file(tmp_path, a=[config_map("a")])
    written_fleet(
        tmp_path,
        [
            {"name": "gone", "dumps": ["gone.jsonl"]},
            {"name": "no-cluster", "kubeconfig": "none.conf"},
            {"name": "no-snapshot", "etcdSnapshot": "a.jsonl"},
            {"name": "a", "dumps": ["a.jsonl"]},
        ],
    )
    code, told = report(celadon, tmp_path)
    assert code == 2
    problems = {one["name"]: [p["message"] for p in one["problems"]] for one in told["sources"]}
    assert problems["gone"] == ["no such file"] or "no such file" in problems["gone"][0]
    assert "none.conf" in problems["no-cluster"][0]
    assert "snapshot of etcd" in problems["no-snapshot"][0]
    assert problems["a"] == []
    assert found(told) == [("a", "a")]


@pytest.mark.thorough
def test_a_cluster_and_an_object_store(tmp_path: Path, celadon: Celadon) -> None:
    mild = policy(expression="object.?data.?x.orValue('ok') == 'ok'")
    write(tmp_path / "p.json", mild, binding())
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "one.jsonl").write_bytes(json_lines([config_map("s1")]))
    (tmp_path / "store" / "two.json").write_bytes(kubectl_json([config_map("s2")]))
    with KubeApi([manifest("c1", x="no"), manifest("c2", x="ok")]) as api:
        written_fleet(
            tmp_path,
            [
                {"name": "live", "kubeconfig": str(api.kubeconfig)},
                {"name": "lake", "dumps": [f"local://{tmp_path}/store"]},
            ],
        )
        code, told = report(celadon, tmp_path)
    assert (code, told["problems"]) == (1, [])
    assert found(told) == [("live", "c1"), ("lake", "s1"), ("lake", "s2")]


def test_an_audit_goes_on_where_it_was_stopped(
    tmp_path: Path, celadon: Celadon, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet_file(tmp_path, a=[config_map("a")], b=[config_map("b")])
    state = ("--state", str(tmp_path / "state"), "--jobs", "1")
    first = report(celadon, tmp_path, *state)

    def never(*_: object) -> None:
        raise AssertionError("worked twice")

    with monkeypatch.context() as patch:
        patch.setattr(fleet_run, "audited", never)
        assert report(celadon, tmp_path, *state) == first
    (tmp_path / "b.jsonl").write_bytes(json_lines([config_map("b"), config_map("new")]))
    _, told = report(celadon, tmp_path, *state)
    assert found(told) == [("a", "a"), ("b", "b"), ("b", "new")]


def test_a_damaged_result_ends_the_audit(tmp_path: Path, celadon: Celadon) -> None:
    fleet_file(tmp_path, a=[config_map("a")])
    state = ("--state", str(tmp_path / "state"), "--jobs", "1")
    report(celadon, tmp_path, *state)
    for file in (tmp_path / "state").iterdir():
        file.write_bytes(b"damaged")
    base = ("audit", "-f", str(tmp_path / "p.json"), "--fleet", str(tmp_path / "fleet.yaml"))
    code, out, err = celadon(*base, *state)
    assert (code, out) == (2, "")
    assert f"`{tmp_path}/state/" in err
    assert "is no result of an audit (Expecting value" in err


def test_reading_a_snapshot_does_not_make_it_another(
    tmp_path: Path, celadon: Celadon, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "p.json", policy(), binding())
    snapshot = tmp_path / "etcd.db"
    snapshot.write_bytes((ROOT / "examples/audit/etcd.db").read_bytes())
    written_fleet(tmp_path, [{"name": "s", "etcdSnapshot": "etcd.db"}])
    state = ("--state", str(tmp_path / "state"), "--jobs", "1")
    first = report(celadon, tmp_path, *state)
    assert first[1]["summary"]["objects"] > 0
    about = os.stat(snapshot)
    os.utime(snapshot, ns=(about.st_atime_ns + 10**9, about.st_mtime_ns))  # as reading does
    monkeypatch.setattr(fleet_run, "audited", None)
    assert report(celadon, tmp_path, *state) == first


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_a_file_of_violations(tmp_path: Path, celadon: Celadon, suffix: str) -> None:
    fleet_file(tmp_path, a=[config_map("a"), config_map("ok", "ok")], b=[config_map("b")])
    file = tmp_path / f"v.{suffix}"
    _, told = report(celadon, tmp_path, "--violations", str(file), "--max-results", "1")
    assert found(told) == []
    if suffix == "jsonl":
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        names = [(one["source"], one["object"]["name"]) for one in rows]
    else:
        from pyarrow import parquet

        rows = parquet.read_table(file).to_pylist()
        names = [(one["source"], one["name"]) for one in rows]
        assert rows[0]["line"] == 1
        assert rows[0]["policy"] == "limit"
    assert names == [("a", "a"), ("b", "b")]


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (("--on", "dask://a:1"), "`--on` goes with `--fleet`"),
        (("--fleet", "f.yaml", "dump.json"), "either a fleet or other sources"),
        (("--fleet", "f.yaml", "-o", "sarif"), "a fleet is reported as table, json, jsonl"),
        (("--fleet", "f.yaml", "--violations", "v.csv"), "expected a name that ends with .jsonl"),
    ],
)
def test_wrong_use(celadon: Celadon, words: tuple[str, ...], wrong: str) -> None:
    code, _, err = celadon("audit", "-f", "p.json", *words)
    assert code == 2
    assert wrong in err


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, list[int]]]:
    """The address of a scheduler, and the processes of its two workers."""
    pytest.importorskip("distributed")
    folder = tmp_path_factory.mktemp("dask")
    file = folder / "scheduler.json"
    options = ["--scheduler-file", str(file)]
    begun = [_started("dask_scheduler", *options, "--no-dashboard", "--port", "0")]
    options += ["--no-dashboard", "--no-nanny", "--nthreads", "1", "--local-directory", str(folder)]
    begun += [_started("dask_worker", *options) for _ in range(2)]
    try:
        address = _written_address(file, begun[0]).replace("tcp://", "dask://")
        _wait_for_workers(address, 2)
        yield address, [one.pid for one in begun[1:]]
    finally:
        for one in begun:
            one.kill()
            one.wait()


def _written_address(file: Path, scheduler: subprocess.Popen[bytes]) -> str:
    """When the scheduler has written it; for a moment the file is there and not whole."""
    while scheduler.poll() is None:
        try:
            return str(json.loads(file.read_text())["address"])
        except (FileNotFoundError, ValueError):
            time.sleep(0.1)
    raise AssertionError(f"the scheduler ended with {scheduler.returncode}")


def _started(command: str, *options: str) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", f"distributed.cli.{command}", *options]
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _wait_for_workers(address: str, count: int) -> None:
    from distributed import Client

    with Client(address.replace("dask://", "tcp://"), set_as_default=False) as client:
        client.wait_for_workers(count, timeout=600)


@pytest.mark.thorough
def test_a_cluster_of_dask_says_the_same(
    tmp_path: Path, celadon: Celadon, dask: tuple[str, list[int]]
) -> None:
    address, workers = dask
    objects: list[Json] = [config_map(f"c{n}", "ok" if n % 3 else "no") for n in range(30)]
    fleet_file(tmp_path, a=objects, b=objects[:7])
    alone = report(celadon, tmp_path, "--jobs", "1")
    assert report(celadon, tmp_path, "--on", address) == alone
    os.kill(workers[0], signal.SIGKILL)
    assert report(celadon, tmp_path, "--on", address) == alone
