"""Every file of every command, with everything in it that should not be there: a few of them.

All are run with `CELADON_HOSTILE=all` and `-m thorough`, which takes hours.
"""

from __future__ import annotations

import os
import shlex

import pytest

from celadon.cli.main import COMMANDS
from tests.hostile.confinement import run
from tests.hostile.file_inputs import CONTENTS, NOT_READING, ROLES, cases
from tests.hostile.hostile_case import HostileCase

PATIENCE = 12.0
"""How slow the machine may be."""
SAMPLE = 499
"""Every so-manieth is run where time is short."""
LARGER_SAMPLE = 1 if os.environ.get("CELADON_HOSTILE") == "all" else 37


def _complaints(case: HostileCase) -> None:
    outcome = run(case, PATIENCE)
    assert outcome.complaints(case, PATIENCE) == [], outcome.output[:2000]


def test_each_command_that_reads_files_has_a_role() -> None:
    found = {shlex.split(" ".join(role.arguments))[0] for role in ROLES}
    wanted = {one.name.split()[0] for one in COMMANDS} - NOT_READING
    assert found == wanted


def test_each_content_meets_each_role() -> None:
    assert len({case.name for case in cases()}) == len(ROLES) * len(CONTENTS)


@pytest.mark.thorough
@pytest.mark.parametrize("case", cases(sample=SAMPLE), ids=lambda case: case.name)
def test_some_are_withstood(case: HostileCase) -> None:
    _complaints(case)


@pytest.mark.thorough
@pytest.mark.parametrize("case", cases(sample=LARGER_SAMPLE), ids=lambda case: case.name)
def test_more_are_withstood(case: HostileCase) -> None:
    _complaints(case)
