"""What runs Celadon on a first project: hooks of pre-commit, jobs of GitHub and GitLab. All of them
run the same three commands, `COMMANDS`."""

from __future__ import annotations

from typing import Final

COMMANDS: Final = (
    "celadon lint policies",
    "celadon test policies",
    "celadon check manifests",
)

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
