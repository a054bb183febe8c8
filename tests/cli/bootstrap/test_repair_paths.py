"""How what refuses is taken away, and when nobody can."""

from __future__ import annotations

from tests.cli.bootstrap.lock_outs import GUARDED_PODS, PROTECTED, policy, rules, simulated


def _commands(*given: object, culprit: str) -> list[tuple[str, bool]]:
    report = simulated(*given)  # type: ignore[arg-type]  # builders make mappings
    (lock,) = (one for one in report.locks if one.chain.culprit.name == culprit)
    return [(step.command, step.admitted) for step in lock.repair.steps]


def test_bindings_can_always_be_deleted() -> None:
    closed = policy("closed", rules("*/*", operations=["*"]), "false")
    assert _commands(*closed, culprit="closed") == [
        ("kubectl delete validatingadmissionpolicybinding closed", True)
    ]


def test_what_protects_a_configuration_goes_first() -> None:
    protect = policy("protect", PROTECTED, "false", message="protected")
    assert _commands(*GUARDED_PODS, *protect, culprit="guard") == [
        ("kubectl delete validatingwebhookconfiguration guard", False),
        ("kubectl replace validatingwebhookconfiguration guard", False),
        ("kubectl delete validatingadmissionpolicybinding protect", True),
        ("kubectl delete validatingwebhookconfiguration guard", True),
    ]


def test_what_cannot_be_deleted_may_be_mended() -> None:
    only_deletion = [{**PROTECTED[0], "operations": ["DELETE"]}]
    protect = policy("keep.static.k8s.io", only_deletion, "false")
    assert _commands(*GUARDED_PODS, *protect, culprit="guard") == [
        ("kubectl delete validatingwebhookconfiguration guard", False),
        ("kubectl replace validatingwebhookconfiguration guard", True),
    ]


def test_files_of_the_server_are_out_of_reach() -> None:
    closed = policy("closed.static.k8s.io", rules("leases"), "false")
    report = simulated(*closed)
    assert report.level.word == "locked-out"
    assert _commands(*closed, culprit="closed.static.k8s.io") == []
    assert not report.locks[0].repair.is_open
