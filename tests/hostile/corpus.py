"""All hostile inputs."""

from __future__ import annotations

from typing import Final

from tests.hostile import (
    definition_inputs,
    expression_inputs,
    json_inputs,
    looked_up_inputs,
    policy_inputs,
    yaml_inputs,
)
from tests.hostile.hostile_case import HostileCase

CORPUS: Final[tuple[HostileCase, ...]] = (
    *yaml_inputs.CASES,
    *json_inputs.CASES,
    *expression_inputs.CASES,
    *policy_inputs.CASES,
    *definition_inputs.CASES,
    *looked_up_inputs.CASES,
)
