"""`--enable-admission-plugins` and `--disable-admission-plugins`, as kube-apiserver has them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from celadon.admission.plugins import PluginSettings
    from celadon.cli.checking.server_plugins.plugin_choice import PluginChoice


def add_plugins(group: argparse._ArgumentGroup) -> None:
    """Declare the options."""
    for name, what in (("enable", "beside the default ones"), ("disable", "of the default ones")):
        group.add_argument(
            f"--{name}-admission-plugins",
            action="append",
            default=[],
            metavar="NAMES",
            help=f"{name} these, {what}, separated by commas",
        )


def chosen_plugins(
    options: argparse.Namespace,
    settings: PluginSettings | None = None,
    *,
    whole_cluster: bool = False,
) -> PluginChoice:
    """Those that the options leave; `settings` are what a file says of them. Raises ValueError."""
    from celadon.cli.checking.server_plugins.plugin_choice import plugin_choice

    return plugin_choice(
        options.enable_admission_plugins,
        options.disable_admission_plugins,
        settings,
        whole_cluster=whole_cluster,
    )
