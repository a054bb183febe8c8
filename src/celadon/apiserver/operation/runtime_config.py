"""Reads the settings that a server is started with: `--runtime-config` (the versions of built-in
kinds that are served), feature gates, the release that it emulates, the file for its plugins.

`api/all`, `api/ga`, `api/beta`, `api/alpha` say it for all of a sort, `GROUP/VERSION` (`v1` for the
core group) for one, `GROUP/VERSION/RESOURCE` for one kind; what says more counts more, whatever the
order. As k8s.io/apiserver `pkg/server/resourceconfig`.
"""

from __future__ import annotations

import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from celadon import private_files
from celadon.admission.plugins import PluginSettings
from celadon.admission.plugins.admission_configuration import BadConfiguration, plugin_settings
from celadon.admission.static_manifests import GATE
from celadon.kube import releases
from celadon.kube.go import parse_bool, quote
from celadon.kube.library import parse_version
from celadon.kube.resources import Catalog, Resource, gates_of, known_resources, said_gates
from celadon.late_patterns import late_pattern
from celadon.records import dataclass, field, replace

SORTS: Final = {
    "api/ga": late_pattern(r"v\d+"),
    "api/beta": late_pattern(r"v\d+beta\d+"),
    "api/alpha": late_pattern(r"v\d+alpha\d+"),
}
ALL: Final = "api/all"


@dataclass(frozen=True, slots=True)
class RuntimeConfig:
    """Holds what was said, by key; without a word, what kube-apiserver serves by default."""

    switches: Mapping[str, bool] = field(default_factory=dict)

    def catalog(self, gates: Mapping[str, bool]) -> Catalog:
        """Return the built-in resources that are served; some of them only with a feature gate."""
        if not self.switches:
            known = known_resources()
            return Catalog(tuple(_with_gates(one, gates) for one in known)) if gates else known
        every = known_resources(all_versions=True)
        return Catalog(
            tuple(
                _with_gates(resource, gates)
                for resource in every
                if self.serves(resource) and _is_open(resource, gates)
            )
        )

    def serves(self, resource: Resource) -> bool:
        """Return whether a built-in resource is served."""
        gvr = resource.gvr
        version = f"{gvr.group}/{gvr.version}" if gvr.group else gvr.version
        for key in (f"{version}/{gvr.resource}", version, *SORTS, ALL):
            if key in self.switches and (
                key not in SORTS or SORTS[key].fullmatch(gvr.version) is not None
            ):
                return self.switches[key]
        return resource.by_default


def _is_open(resource: Resource, gates: Mapping[str, bool]) -> bool:
    return not resource.gate or gates.get(resource.gate, False)


def _with_gates(resource: Resource, gates: Mapping[str, bool]) -> Resource:
    """Return a resource without the subresources whose gate is off."""
    offered = tuple(
        subresource for subresource in resource.subresources if gates.get(subresource.gate, True)
    )
    return resource if offered == resource.subresources else replace(resource, subresources=offered)


def runtime_config(text: str) -> RuntimeConfig:
    """Read `key=value,...`. Raises ValueError."""
    switches = {}
    for pair in filter(None, (text.strip() for text in text.split(","))):
        key, _, value = pair.partition("=")
        key = key.removeprefix("api/") if key == "api/v1" else key
        is_on = parse_bool(value or "true")
        if is_on is None:
            raise ValueError(f"invalid value of {key}={value}, it is neither true nor false")
        if key != ALL and key not in SORTS and key not in _known_keys():
            if is_on and _comes_later(key):
                raise ValueError(
                    f"cannot enable version {key} in runtime-config because all the resources have "
                    f"been introduced after the current version {releases.emulated_release()}. "
                    "Consider setting --runtime-config-emulation-forward-compatible=true"
                )
            raise ValueError(f"unknown api groups {key.partition('/')[0]}: `{key}` is not served")
        switches[key] = is_on
    return RuntimeConfig(switches)


def _comes_later(key: str) -> bool:
    """Return whether the release has that version, but not what it emulates."""
    with releases.answering_as(releases.current_release()):
        return key in _known_keys() and key.count("/") == 1


def _known_keys() -> frozenset[str]:
    result = set()
    for resource in known_resources(all_versions=True):
        group, version, name = resource.gvr
        place = f"{group}/{version}" if group else version
        result |= {place, f"{place}/{name}"}
    return frozenset(result)


def feature_gates(
    text: str, version: str | None = None, emulated: str | None = None
) -> Mapping[str, bool]:
    """Return the gates that are not as by default in a release, by default the current one, and in
    what it emulates. Raises ValueError, in upstream's words; VersionError."""
    emulated = emulated or version or releases.emulated_release()
    version = version or releases.current_release()
    parse_version(version)
    gates = gates_of(emulated)
    switches = said_gates(text, version, emulated)
    return {name: value for name, value in sorted(switches.items()) if value != gates[name].on}


# --- Emulated release --------------------------------------------------------
#
# `--emulated-version` and `--min-compatibility-version`: a server that has the feature gates and
# versions of kinds of an older release, and does without what an even older one beside it would
# not understand. What it says and refuses is its own.
#
# As k8s.io/component-base `compatibility`, whose texts these are, with the bounds of
# k8s.io/apiserver `pkg/util/compatibility`.

_COMPONENT: Final = "kube"
_VERSION: Final = late_pattern(r"\s*+v?([0-9]++(?:\.[0-9]++)*+)")
_EMULATING: Final = (1, 31)
"""The first release that can be emulated, and can emulate."""
_OLDER: Final = 3
"""By so many minors a server may emulate an older one."""


@dataclass(frozen=True, slots=True)
class EffectiveVersion:
    """Releases of a server: what it is, what it emulates, and the oldest that it has to get along
    with."""

    binary: str
    emulation: str
    min_compatibility: str


def effective_version(
    binary: str, emulated: Sequence[str] = (), compatible: Sequence[str] = ()
) -> EffectiveVersion:
    """Return what the options say, each `1.35` or `kube=1.35`. Raises ValueError."""
    newest = parse_version(binary)
    if (emulated or compatible) and newest < _EMULATING:
        raise ValueError(
            f"unknown flag: --{'emulated' if emulated else 'min-compatibility'}-version"
        )
    floor = max((newest[0], newest[1] - _OLDER), _EMULATING)
    emulated_version = _said_version(emulated)
    emulation = emulated_version or newest
    lowest = _said_version(compatible) or parse_version(releases.previous_minor(_text(emulation)))
    if emulated_version and not compatible:
        lowest = max(lowest, floor)
    errors = []
    if not floor <= emulation <= newest:
        errors.append(
            f"emulation version {_text(emulation)} is not between [{_text(floor)}, {binary}.0]"
        )
    if not floor <= lowest <= emulation:
        errors.append(
            f"minCompatibilityVersion version {_text(lowest)} is not between "
            f"[{_text(floor)}, {_text(emulation)}]"
        )
    if errors and (emulated or compatible):
        raise ValueError(errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]")
    return EffectiveVersion(binary, _text(emulation), _text(lowest))


def _text(version: releases.Minor) -> str:
    return "{}.{}".format(*version)


def _said_version(options: Sequence[str]) -> releases.Minor | None:
    """Return the release of the one component that there is, if it is among what was said."""
    versions: dict[str, str] = {}
    for word in (part for option in options for part in option.split(",") if part):
        name, equals, text = (part.strip() for part in word.partition("="))
        component, version = (name, text) if equals else (_COMPONENT, word)
        numbers = _numbers(version)
        version = ".".join(numbers)
        if any(int(patch) for patch in numbers[2:3]):
            raise ValueError(f"patch version not allowed, got: {component}={version}")
        if component in versions:
            raise ValueError(
                f"duplicate version flag, {component}={versions[component]} "
                f"and {component}={version}"
            )
        versions[component] = version
    for component in versions:
        if component != _COMPONENT:
            raise ValueError(f"component not registered: {component}")
    if not versions:
        return None
    major, minor = versions[_COMPONENT].split(".")[:2]
    return int(major), int(minor)


def _numbers(text: str) -> list[str]:
    """Return the components of a version (k8s.io/apimachinery `util/version`)."""
    match = _VERSION.match(text)
    if match is None:
        raise ValueError(f"could not parse {quote(text)} as version")
    numbers: list[str] = match[1].split(".")
    if len(numbers) == 1:
        raise ValueError(f"illegal version string {quote(text)}")
    if numbers[0].startswith("0") and numbers[0] != "0":
        raise ValueError(
            f"illegal zero-prefixed version component {quote(numbers[0])} in {quote(text)}"
        )
    return numbers


# --- Admission file ----------------------------------------------------------
#
# `--admission-control-config-file`: what the admission plugins are told, from files.


def read_admission_file(path: Path, gates: Mapping[str, bool] | None = None) -> PluginSettings:
    """YAML or JSON; files that it names are found from its folder. `gates` are the feature gates
    that are not as by default. Raises BadConfiguration and OSError."""
    try:
        return plugin_settings(
            _document(path),
            lambda named: _document(path.parent / named),
            folder_problem,
            gated=(gates or {}).get(GATE, False),
        )
    except BadConfiguration as error:
        raise BadConfiguration(f"`{path}`: {error}") from None


def folder_problem(path: str) -> str:
    """Return why it is not that of a folder, in Go's words; empty if it is."""
    try:
        mode = Path(path).stat().st_mode
    except OSError as error:
        return f"unable to read: stat {path}: {(error.strerror or str(error)).lower()}"
    return "" if stat.S_ISDIR(mode) else "must be a directory"


def _document(path: Path) -> object:
    from celadon.goyaml import UnreadableError, first_document  # late: few servers have such a file

    try:
        return first_document(private_files.content(path).decode().encode()).value
    except (UnreadableError, UnicodeDecodeError) as error:
        raise BadConfiguration(" ".join(str(error).split())) from None
