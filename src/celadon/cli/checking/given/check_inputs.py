"""From the options of a command to what it is to judge, and by what."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from celadon.cli.checking.given import check_options
from celadon.cli.checking.judging.object_judging import Settings
from celadon.cli.checking.manifests import Manifests, Parts, gather, unknown_kind
from celadon.cli.checking.policy_set import PolicySets, only, policy_sets
from celadon.cli.project_files.config_files import ConfigError
from celadon.cli.project_files.project_options import use_project
from celadon.cli.reading.sources import Exclusion
from celadon.cli.suggestions import did_you_mean
from celadon.records import dataclass


class WrongUseError(ValueError):
    """The options do not say what to do."""


@dataclass(frozen=True, slots=True)
class CheckInputs:
    """All documents by their part, the policies among them, and what is asked."""

    manifests: Manifests
    policies: PolicySets
    settings: Settings


def check_inputs(
    options: argparse.Namespace, step: Callable[[int], None], complain: Callable[[str], None]
) -> CheckInputs:
    """Reads everything; `step` is told how many documents there are so far, and `complain` what the
    user should know of the configuration. WrongUseError."""
    try:
        options.cluster = [*use_project(options, complain), *options.cluster]
    except ConfigError as error:
        raise WrongUseError(str(error)) from error
    wrong = check_options.wrong_use(options)
    if wrong:
        raise WrongUseError(wrong)
    try:
        cluster = [*options.cluster, *check_options.static_paths(options)]
    except ValueError as error:
        raise WrongUseError(f"--admission-control-config-file: {error}") from error
    parts = Parts.of(options.lookup, options.admit)
    exclusion = Exclusion(options.exclude)
    manifests = gather(cluster, options.resources, options.old, parts, step, exclusion)
    wrong = unknown_kind(parts, manifests)
    if wrong:
        raise WrongUseError(wrong)
    policies = _chosen(policy_sets(manifests, options.kubernetes_version), options.policy)
    try:
        settings = check_options.settings(options)
    except ValueError as error:
        raise WrongUseError(str(error)) from error
    return CheckInputs(manifests, policies, settings)


def _chosen(policies: PolicySets, names: list[str]) -> PolicySets:
    for name in names:
        if not any(name in found.policies or name in found.broken for found in policies.all):
            hint = did_you_mean(name, [one for found in policies.all for one in found.policies])
            raise WrongUseError(f"no policy `{name}`{hint}")
    return only(policies, names) if names else policies
