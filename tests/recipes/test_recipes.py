"""Every recipe has a test that performs it. House rule 25: a recipe names every file to touch."""

from __future__ import annotations

import re

from tests.paths import ROOT
from tests.recipes import (
    test_command_recipes,
    test_engine_recipes,
    test_kubernetes_recipes,
    test_server_recipes,
)

PERFORMED = {
    "a built-in kind": test_kubernetes_recipes.test_a_built_in_kind,
    "a command": test_command_recipes.test_a_command,
    "a function of Kubernetes' CEL": test_kubernetes_recipes.test_a_function,
    "a controller": test_server_recipes.test_a_controller,
    "a limit": test_command_recipes.test_a_limit,
    "a lint rule": test_engine_recipes.test_a_lint_rule,
    "a notice": test_command_recipes.test_a_notice,
    "a plugin": test_server_recipes.test_a_plugin,
    "a printer column": test_server_recipes.test_a_printer_column,
    "a release of Kubernetes": test_kubernetes_recipes.test_a_release,
    "the data of a release": test_kubernetes_recipes.test_the_data_of_a_release,
    "a resource": test_kubernetes_recipes.test_a_resource,
    "a shape that the quick YAML reader understands": test_command_recipes.test_a_yaml_shape,
    "a store": test_engine_recipes.test_a_store,
    "a validation rule": test_server_recipes.test_a_validation_rule,
    "an endpoint": test_server_recipes.test_an_endpoint,
    "an example to the documentation": test_command_recipes.test_an_example,
    "an expression to the golden cases": test_engine_recipes.test_a_golden_case,
    "something in the manifests of the webhook": test_command_recipes.test_a_manifest,
    "an output format": test_command_recipes.test_an_output_format,
}
"""What performs which recipe."""


def test_every_recipe_is_performed() -> None:
    text = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^## (.*)$", text, re.MULTILINE)) == sorted(PERFORMED)
