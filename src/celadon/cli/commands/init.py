"""`celadon init`: a first project, written where nothing is overwritten."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Final

from celadon.cli import output
from celadon.cli.exit_codes import Exit, WrongUseError

# --- The files of a project --------------------------------------------------

# A first project on the disk. Nothing that is there is overwritten: not even one file is written
# then.

# --- First pipelines ---------------------------------------------------------
#
# What runs Celadon on a first project: hooks of pre-commit, jobs of GitHub and GitLab. All of
# them run the same three commands, `COMMANDS`.

COMMANDS: Final = (
    "celadon lint policies",
    "celadon test policies",
    "celadon check manifests",
)

POLICIES: Final = "policies"
"""The folder of the policies."""

CONFIGURATION: Final = """\
# What commands in this folder need not be told: `celadon check manifests` reads it all.
policies = ["policies"]
# What policies look up.
cluster = ["cluster"]

[lint]
fail-on = "warning"
"""

_HOOK: Final = """\
  - id: {id}
    name: {command}
    entry: {command}
    language: system
    types_or: [yaml, json]
    pass_filenames: false
"""
PRE_COMMIT: Final = "repos:\n- repo: local\n  hooks:\n" + "".join(
    _HOOK.format(id="-".join(command.split()[:2]), command=command) for command in COMMANDS
)

GITHUB: Final = """\
name: policies
on: [push, pull_request]
permissions:
  contents: read
jobs:
  celadon:
    runs-on: ubuntu-latest
    steps:
    - uses: actions/checkout@v4
    - uses: actions/setup-python@v5
      with:
        python-version: "3.13"
    - run: pip install celadon
""" + "".join(f"    - run: {command} --output github\n" for command in COMMANDS)

_REPORTS: Final = {f"{command.split()[1]}.xml": command for command in COMMANDS}
GITLAB: Final = (
    """\
policies:
  image: python:3.13-slim
  script:
  - pip install celadon
"""
    + "".join(f"  - {run} --output junit > {file}\n" for file, run in _REPORTS.items())
    + """\
  artifacts:
    when: always
    reports:
      junit:
"""
    + "".join(f"      - {file}\n" for file in _REPORTS)
)


# --- First policy files ------------------------------------------------------
#
# The policy of a first project, its binding and its test, with what they look at.
#
# The rule is one that everybody understands, in a form to copy: a guarded field, a message that
# says what was found, a namespace that is left out.

POLICY: Final = """\
# Who keeps a Deployment running is written on it.
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: owner-label
spec:
  matchConstraints:
    resourceRules:
    - apiGroups: [apps]
      apiVersions: [v1]
      operations: [CREATE, UPDATE]
      resources: [deployments]
  variables:
  - name: owner
    expression: object.metadata.?labels.?owner.orValue('')
  validations:
  - expression: variables.owner != ''
    message: a label `owner` is required
  - expression: variables.owner.matches('^([a-z][a-z0-9-]*)?$')
    messageExpression: "'`' + variables.owner + '` is not the name of a team'"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: owner-label
spec:
  policyName: owner-label
  validationActions: [Deny]
  matchResources:
    namespaceSelector:
      matchExpressions:
      - {key: kubernetes.io/metadata.name, operator: NotIn, values: [kube-system]}
"""

TEST: Final = """\
apiVersion: celadon.dev/v1
kind: PolicyTest
resources: [../cluster]
objects:
  web:
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web, namespace: shop, labels: {owner: storefront}}
    spec:
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec: {containers: [{name: web, image: registry.example.com/web:1}]}
defaults: {object: web}
cases:
- name: a team owns it
  expect: admit
- name: nobody owns it
  patch: {metadata: {labels: null}}
  expect: {deny: a label `owner` is required}
- name: an owner is not a person
  patch: {metadata: {labels: {owner: Ann}}}
  expect: {deny: "`Ann` is not the name of a team"}
- name: an update loses the owner
  operation: UPDATE
  patch: {metadata: {labels: {owner: null}}}
  expect: {deny: a label `owner` is required}
- name: the cluster's own are left alone
  patch: {metadata: {namespace: kube-system, labels: null}}
  expect: noMatch
"""

MANIFEST: Final = """\
# A Deployment as it should be: no policy of `celadon library` refuses it.
apiVersion: v1
kind: ServiceAccount
metadata:
  name: web
  namespace: shop
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  labels:
    owner: storefront
    app.kubernetes.io/name: web
    app.kubernetes.io/part-of: shop
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      serviceAccountName: web
      automountServiceAccountToken: false
      securityContext:
        runAsNonRoot: true
        seccompProfile: {type: RuntimeDefault}
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: kubernetes.io/hostname
        whenUnsatisfiable: ScheduleAnyway
        labelSelector: {matchLabels: {app: web}}
      containers:
      - name: web
        image: registry.example.com/web:1@sha256:DIGEST
        ports: [{containerPort: 8080}]
        readinessProbe: {httpGet: {path: /healthz, port: 8080}}
        resources:
          requests: {cpu: 100m, memory: 128Mi}
          limits: {memory: 128Mi}
        securityContext:
          allowPrivilegeEscalation: false
          readOnlyRootFilesystem: true
          capabilities: {drop: [ALL]}
""".replace("DIGEST", "7" * 64)

NAMESPACES: Final = """\
# What policies look up besides the objects: namespaces with their labels, params, definitions.
apiVersion: v1
kind: Namespace
metadata:
  name: shop
---
apiVersion: v1
kind: Namespace
metadata:
  name: kube-system
"""

FILES: Final = {
    "celadon.toml": CONFIGURATION,
    "policies/owner-label.yaml": POLICY,
    "policies/owner-label.policytest.yaml": TEST,
    "cluster/namespaces.yaml": NAMESPACES,
    "manifests/web.yaml": MANIFEST,
    ".pre-commit-config.yaml": PRE_COMMIT,
    ".github/workflows/policies.yaml": GITHUB,
    ".gitlab-ci.yml": GITLAB,
}
"""Paths in the project, and what stands there."""


def write_project(folder: Path) -> list[Path]:
    """Write all files, and return where they are. Raises WrongUseError: before the first one if
    any of them is there."""
    for name in FILES:
        path = folder / name
        if path.exists() or path.is_symlink():
            raise WrongUseError(f"`{path}` is there already: nothing was written")
    for name, text in FILES.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8", newline="\n") as file:
                file.write(text)
        except OSError as error:
            raise WrongUseError(f"`{path}` {output.unwritten(error)}") from error
    return [folder / name for name in FILES]


# --- The command -------------------------------------------------------------

DESCRIPTION: Final = """\
Write a first project: a policy with its binding and test, a manifest, and what runs celadon on
them (pre-commit, GitHub, GitLab). With --library, policies of `celadon library` beside it. Nothing
that is there is overwritten, and no question is asked.
"""

EPILOG: Final = """\
examples:
  celadon init
  celadon init policies-of-the-platform
  celadon init --library pod-security-restricted no-latest-tag

exit codes:
  0  the project was written
  2  wrong usage, an unknown name, or a file that is there already or cannot be written
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the folder, and what else is to be in it."""
    parser.add_argument(
        "folder", nargs="?", default=".", metavar="FOLDER", help="where (default: `.`)"
    )
    parser.add_argument(
        "--library",
        nargs="+",
        default=[],
        metavar="NAME",
        help="policies of `celadon library`, by name or topic",
    )


def run(options: argparse.Namespace) -> Exit:
    """Write, and say what comes next."""
    from celadon.cli.commands.library import say_what_to_set
    from celadon.cli.library import chosen, copy, library, refuse_existing

    folder = Path(options.folder)
    policies = chosen(library(), options.library)
    refuse_existing(policies, folder / POLICIES)
    for path in [*write_project(folder), *copy(policies, folder / POLICIES)]:
        output.say(f"written: {path}")
    say_what_to_set(policies, folder / POLICIES)
    enter = [] if options.folder == "." else [f"cd {shlex.quote(options.folder)}"]
    output.say("\n".join(["next:", *(f"  {command}" for command in (*enter, *COMMANDS))]))
    if not policies:
        output.say("more policies:\n  celadon library list\n  celadon library add NAME")
    return Exit.OK
