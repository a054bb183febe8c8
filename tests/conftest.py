"""What all tests share: options, and how hypothesis searches."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

# Machines differ in speed; a property that takes long on one of them is not wrong.
settings.register_profile(
    "everywhere", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
# What decides whether a change lands must not depend on luck; searching on is for developers.
settings.register_profile("ci", parent=settings.get_profile("everywhere"), derandomize=True)
settings.register_profile("thorough", parent=settings.get_profile("everywhere"), max_examples=5000)
settings.load_profile(
    os.environ.get("CELADON_HYPOTHESIS", "ci" if os.environ.get("CI") else "everywhere")
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="rewrite the expectations of tests/cases; review the diff like code",
    )
