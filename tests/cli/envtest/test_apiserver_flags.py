"""What flags of kube-apiserver become: options of `serve`, warnings, refusals."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from celadon.cli.commands import serve
from celadon.cli.envtest.apiserver_program import (
    KNOWN,
    PASSED,
    REFUSED,
    SILENT,
    SWITCHES,
    TRANSLATED,
    TYPES,
    WITHOUT_EFFECT,
    FlagError,
    duration,
    help_text,
    integer,
    read_flags,
    serve_arguments,
    warnings_about,
)
from celadon.cli.main import CommandParser
from tests.paths import ROOT


def arguments(
    *words: str, release: str = "1.33", controllers: str = "", nodes: str = ""
) -> list[str]:
    return serve_arguments(read_flags(words), release, controllers, nodes)


def warnings(*words: str) -> list[str]:
    return list(warnings_about(read_flags(words)))


CONTROLLER_RUNTIME = (
    "--allow-privileged=true",
    "--authorization-mode=RBAC",
    "--bind-address=127.0.0.1",
    "--cert-dir=/tmp/k8s_test_framework_1",
    "--client-ca-file=/tmp/k8s_test_framework_1/client-cert-auth-ca.crt",
    "--disable-admission-plugins=ServiceAccount",
    "--etcd-servers=http://127.0.0.1:2379",
    "--secure-port=40001",
    "--service-account-issuer=https://127.0.0.1:40001/",
    "--service-account-key-file=/tmp/k8s_test_framework_1/sa-signer.crt",
    "--service-account-signing-key-file=/tmp/k8s_test_framework_1/sa-signer.key",
    "--service-cluster-ip-range=10.0.0.0/24",
)
OLD_TEMPLATES = (
    "--advertise-address=127.0.0.1",
    "--cert-dir=/tmp/certs",
    "--insecure-port=0",
    "--secure-port=40001",
    "--etcd-servers=http://127.0.0.1:2379",
    "--disable-admission-plugins=ServiceAccount",
    "--service-cluster-ip-range=10.0.0.0/24",
    "--allow-privileged=true",
)
FABRIC8 = (
    *("--min-request-timeout", "300"),
    *("--cert-dir", "/home/u/.kubeapitest"),
    *("--secure-port", "40001"),
    *("--etcd-servers", "http://0.0.0.0:40000"),
    *("--authorization-mode", "RBAC"),
    *("--service-account-issuer", "https://localhost"),
    *("--service-account-signing-key-file", "/home/u/.kubeapitest/apiserver.key"),
    *("--service-account-signing-key-file", "/home/u/.kubeapitest/apiserver.key"),
    *("--service-account-key-file", "/home/u/.kubeapitest/apiserver.key"),
    *("--service-account-issuer", "/home/u/.kubeapitest/apiserver.crt"),
    *("--disable-admission-plugins", "ServiceAccount"),
    *("--client-ca-file", "/home/u/.kubeapitest/client.crt"),
    *("--service-cluster-ip-range", "10.0.0.0/24"),
    "--allow-privileged",
)


@pytest.mark.parametrize("words", [CONTROLLER_RUNTIME, OLD_TEMPLATES, FABRIC8])
def test_what_test_servers_pass_is_known(words: tuple[str, ...]) -> None:
    assert warnings(*words) == []
    parser = CommandParser()
    serve.arguments(parser)
    options = parser.parse_args(arguments(*words))
    assert options.listen == "127.0.0.1:40001"
    assert options.kubernetes_version == "1.33"
    assert options.controllers == ""
    assert options.disable_admission_plugins == ["ServiceAccount"]
    assert options.service_cluster_ip_range == "10.0.0.0/24"


def test_values_of_flags_that_are_repeated() -> None:
    found = arguments(*FABRIC8)
    assert "--service-account-issuer=https://localhost" in found
    assert "--service-account-issuer=/home/u/.kubeapitest/apiserver.crt" in found
    assert "--min-request-timeout=300" in found
    gates = arguments("--feature-gates=A=true", "--feature-gates", "kube:B=false,C=true")
    assert "--feature-gates=A=true,B=false,C=true" in gates
    served = arguments("--runtime-config=api/all=true", "--runtime-config=apps/v1=false")
    assert "--runtime-config=api/all=true,apps/v1=false" in served


def test_names_have_dashes_and_values_stay() -> None:
    assert read_flags(["--secure_port=1", "--cert-dir=/tmp/a_b", "-v", "4", "-v=5", "-v6"]) == {
        "secure-port": ["1"],
        "cert-dir": ["/tmp/a_b"],
        "v": ["4", "5", "6"],
    }


def test_flags_without_a_value() -> None:
    assert read_flags(["--allow-privileged", "--unknown", "--other", "x"]) == {
        "allow-privileged": ["true"],
        "unknown": ["true"],
        "other": ["x"],
    }
    with pytest.raises(FlagError, match="flag needs an argument: --cert-dir"):
        read_flags(["--cert-dir"])
    with pytest.raises(FlagError, match=r"does not take any arguments, got \[\"true\"\]"):
        read_flags(["--allow-privileged", "true"])


@pytest.mark.parametrize(
    ("words", "listen"),
    [
        ([], "127.0.0.1:6443"),
        (["--secure-port=0"], "127.0.0.1:0"),
        (["--bind-address=0.0.0.0", "--secure-port=1"], "0.0.0.0:1"),
        (["--bind-address=::1", "--secure-port=1"], "[::1]:1"),
    ],
)
def test_where_it_listens(words: list[str], listen: str) -> None:
    assert arguments(*words)[:2] == ["--listen", listen]


@pytest.mark.parametrize(
    ("words", "mode"),
    [
        ([], "AlwaysAllow"),
        (["--authorization-mode=RBAC"], "RBAC"),
        (["--authorization-mode=Node,RBAC"], "Node,RBAC"),
        (["--authorization-mode=AlwaysAllow,RBAC"], "AlwaysAllow"),
    ],
)
def test_who_may_do_what(words: list[str], mode: str) -> None:
    assert f"--authorization-mode={mode}" in arguments(*words)


def test_certificates_of_the_folder_unless_others_are_named(tmp_path: Path) -> None:
    folder = f"--cert-dir={tmp_path}"
    assert not any("tls" in one for one in arguments(folder))
    for name in ("apiserver.crt", "apiserver.key"):
        (tmp_path / name).touch()
    assert f"--tls-cert-file={tmp_path / 'apiserver.crt'}" in arguments(folder)
    assert f"--tls-private-key-file={tmp_path / 'apiserver.key'}" in arguments(folder)
    named = arguments(folder, "--tls-cert-file=a", "--tls-private-key-file=b")
    assert [one for one in named if "tls" in one] == [
        "--tls-cert-file=a",
        "--tls-private-key-file=b",
    ]


def test_audit_needs_a_policy_as_upstream() -> None:
    assert not any("--audit-log" in one for one in arguments("--audit-log-path=log"))
    found = arguments("--audit-log-path=log", "--audit-policy-file=policy", "--audit-log-mode=x")
    assert "--audit-log=log" in found
    assert "--audit-policy-file=policy" in found


def test_other_translations() -> None:
    assert "--verbosity=5" in arguments("--v=10")
    assert "--anonymous-auth=false" in arguments("--anonymous-auth=F")
    assert "--controllers=*" in arguments("--controllers=*")
    assert "--controllers=x" in arguments(controllers="x")
    assert "--service-cluster-ip-range=10.1.0.0/16" in arguments(
        "--service-cluster-ip-range=fd00::/108,10.1.0.0/16"
    )
    assert arguments("--emulated-version=kube=1.35")[4] == "--emulated-version=1.35"


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("--oidc-issuer-url=https://x", "there is no OpenID Connect"),
        ("--authorization-mode=RBAC,Webhook", "only RBAC, Node and AlwaysAllow are there"),
        ("--authorization-config=x", "`--authorization-config` cannot be honoured"),
        ("--authentication-token-webhook-config-file=x", "are not looked at by webhooks"),
        ("--insecure-port=8080", "since 1.24 there is only TLS"),
        ("--secure-port=70000", "must be between 0 and 65535, inclusive"),
        ("--enable-bootstrap-token-auth", "bootstrap tokens let nobody in"),
        ("--anonymous-auth=perhaps", 'invalid argument "perhaps" for "--anonymous-auth" flag'),
    ],
)
def test_what_cannot_be_honoured(word: str, message: str) -> None:
    with pytest.raises(FlagError, match=re.escape(message)):
        arguments(word)


MEDIA = "application/json, application/vnd.kubernetes.protobuf, application/yaml"


# As kube-apiserver 1.36.2 says it, whose flags were the same and no others.
@pytest.mark.parametrize(
    ("flag", "value", "message"),
    [
        ("goaway-chance", "abc", 'strconv.ParseFloat: parsing "abc": invalid syntax'),
        ("event-ttl", "5", 'time: missing unit in duration "5"'),
        ("event-ttl", "x", 'time: invalid duration "x"'),
        ("event-ttl", "1d", 'time: unknown unit "d" in duration "1d"'),
        ("max-requests-inflight", "1.5", 'strconv.ParseInt: parsing "1.5": invalid syntax'),
        ("audit-log-maxage", "", 'strconv.ParseInt: parsing "": invalid syntax'),
        ("max-requests-inflight", f"{1 << 63}", f'parsing "{1 << 63}": value out of range'),
        ("bind-address", "foo", 'failed to parse IP: "foo"'),
        ("watch-cache", "maybe", 'strconv.ParseBool: parsing "maybe": invalid syntax'),
        ("allow-metric-labels", "a", "a must be formatted as key=value"),
        ("oidc-required-claim", "a", "malformed pair, expect string=string"),
        ("vmodule", "a", '"a" does not have the pattern=N format'),
        ("tls-sni-cert-key", "a", "expected comma separated certificate and key file paths"),
        ("log-text-info-buffer-size", "x", "quantities must match the regular expression"),
        ("service-node-port-range", "a", 'strconv.Atoi: parsing "a": invalid syntax'),
        ("service-node-port-range", "2-1", "end port cannot be less than start port: 2-1"),
        ("service-node-port-range", "1-70000", "the port range cannot be greater than 65535"),
    ],
)
def test_values_that_cannot_be_read(flag: str, value: str, message: str) -> None:
    with pytest.raises(FlagError) as refused:
        read_flags([f"--{flag}={value}"])
    assert str(refused.value).startswith(f'invalid argument "{value}" for "--{flag}" flag: ')
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("--goaway-chance=0.5", "--goaway-chance can not be less than 0 or greater than 0.02"),
        ("--livez-grace-period=-1s", "--livez-grace-period can not be a negative value"),
        ("--request-timeout=-1s", "--request-timeout can not be negative value"),
        ("--max-requests-inflight=-1", "--max-requests-inflight can not be negative value"),
        ("--storage-media-type=x", f'--storage-media-type "x" invalid, allowed values: {MEDIA}'),
        ("--tls-min-version=1", 'unknown tls version "1"'),
        ("--logging-format=x", 'format: Invalid value: "x": Unsupported log format'),
        ("--watch-cache-sizes=a", "invalid value of watch cache size: a"),
        ("--authorization-mode=Foo", 'authorization-mode "Foo" is not a valid mode'),
        (
            "--authorization-mode=RBAC,RBAC",
            'authorization-mode ["RBAC" "RBAC"] has mode specified more than once',
        ),
    ],
)
def test_values_that_cannot_be_meant(word: str, message: str) -> None:
    with pytest.raises(FlagError) as refused:
        arguments(word)
    assert str(refused.value) == message


def test_all_that_cannot_be_meant_is_told_at_once() -> None:
    with pytest.raises(FlagError) as refused:
        arguments("--tls-min-version=1", "--min-request-timeout=-1")
    assert str(refused.value) == (
        '[--min-request-timeout can not be negative value, unknown tls version "1"]'
    )


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("event-ttl", "1h2m3.5s"),
        ("event-ttl", "-.5ms"),
        ("event-ttl", "0"),
        ("max-requests-inflight", "0x10"),
        ("max-requests-inflight", "1_000"),
        ("max-requests-inflight", "010"),
        ("advertise-address", "::1"),
        ("service-node-port-range", "1+5"),
        ("service-node-port-range", "80"),
        ("log-json-info-buffer-size", "1Mi"),
        ("tls-sni-cert-key", "a.crt,a.key:*.a.com"),
        ("vmodule", "a=1,b=2"),
    ],
)
def test_values_as_go_reads_them(flag: str, value: str) -> None:
    assert read_flags([f"--{flag}={value}"]) == {flag: [value]}


def test_what_is_warned_of() -> None:
    assert warnings("--no-such=1", "--no-such=2", "--profiling=false", "--etcd-prefix=/x") == [
        "kube-apiserver has no flag `--no-such` that is known here: ignored"
    ]
    assert warnings("--api-audiences=x") == [
        "`--api-audiences` has no effect: Celadon has nothing like it"
    ]


def test_help_lists_flags_as_test_servers_look_for_them() -> None:
    text = help_text("1.33")
    assert re.search(r"(?m)^\s*--etcd-servers\b", text)
    assert not re.search(r"(?m)^\s*--insecure-port\b", text)


def test_what_is_passed_on_is_an_option_of_serve() -> None:
    parser = CommandParser()
    serve.arguments(parser)
    options = {name for action in parser._actions for name in action.option_strings}
    assert {f"--{name}" for name in PASSED} <= options


def test_workloads_run_when_asked() -> None:
    found = " ".join(arguments(nodes="3"))
    assert "--simulate workloads --nodes 3" in found
    assert "--controllers=*" in found
    assert "--controllers=namespace" in arguments(nodes="3", controllers="namespace")
    assert "--simulate" not in arguments()
    with pytest.raises(FlagError, match="CELADON_ENVTEST_SIMULATE=many: expected a number"):
        arguments(nodes="many")


COMMANDS = ROOT / "tests" / "cases" / "kube_apiserver_flags.txt"
_PROMPT = "$ kube-apiserver"


def _outcome(line: str) -> str:
    """What a command line becomes: arguments besides those of each, warnings, or a refusal."""
    try:
        flags = read_flags(shlex.split(line.removeprefix(_PROMPT)))
        found = serve_arguments(flags, "1.36")
    except FlagError as error:
        return f"error: {error}"
    usual = [] if line == _PROMPT else serve_arguments({}, "1.36")
    lines = [*(word for word in found if word not in usual), *warnings_about(flags)]
    missing = [word for word in usual if word not in found]
    return "\n".join([*lines, *(f"without {word}" for word in missing)]) or "nothing else"


def test_command_lines(request: pytest.FixtureRequest) -> None:
    """All of a file, which `pytest --update-golden` writes anew, to be read like code."""
    text = COMMANDS.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith(_PROMPT)]
    written = "".join(f"{line}\n{_outcome(line)}\n\n" for line in lines)
    if request.config.getoption("--update-golden"):
        COMMANDS.write_text(written, encoding="utf-8")
    assert written == COMMANDS.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1ns", 1e-9),
        ("1us", 1e-6),
        ("1µs", 1e-6),
        ("1μs", 1e-6),
        ("1ms", 1e-3),
        ("1s", 1.0),
        ("1m", 60.0),
        ("1h", 3600.0),
        ("1h2m3.5s", 3723.5),
        ("-.5s", -0.5),
        ("+2.s", 2.0),
        ("-0", 0.0),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert duration(text) == seconds


@pytest.mark.parametrize(
    ("text", "value"),
    [("0x_1F", 31), ("0b101", 5), ("0o17", 15), ("017", 15), ("0", 0), ("-1_000", -1000)],
)
def test_integers(text: str, value: int) -> None:
    assert integer(text) == value


def test_sorts_of_flags_are_told_apart() -> None:
    """A flag has one meaning; those that stand alone are among the others too."""
    sorts = (set(PASSED), set(TRANSLATED), set(REFUSED), set(WITHOUT_EFFECT), set(SILENT))
    assert sum(map(len, sorts)) == len(set().union(*sorts))
    assert (len(KNOWN), len(SWITCHES), len(TYPES)) == (199, 33, 60)
