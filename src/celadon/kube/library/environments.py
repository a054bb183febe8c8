"""The environments of CEL that each Kubernetes release has: the table of k8s.io/apiserver
`environment/base.go`.

`environment("1.36")` knows what release 1.36 knows; it serves expressions that are stored already.
An expression that is being written may only use what the release before knew, so that a rollback
finds nothing it cannot run: for those, upstream uses the environment of the minor version before
(`previous_minor`), and so do callers here.

What "the release before knew" is not the same for every server: 1.30 took addresses for older than
1.31 did. And a server's cel-go decides how an expression is read and what it is said to cost,
whatever release it is written for: 1.30 has 0.17, 1.31 has 0.20, 1.32 has 0.22, 1.33 has 0.23, and
those since have 0.26.

The table goes back to the beginning; releases from 1.29 to `LATEST` are meant to be asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from celadon.cel import Environment, Switches
from celadon.cel.extend import Library, Validator
from celadon.cel.extend import validators as ast_validators
from celadon.cel.libraries import (
    comprehensions,
    formatting,
    lists,
    optionals,
    sets,
    standard_library,
    strings,
)
from celadon.kube.library import (
    authz,
    format_and_regex,
    ip_cidr_url,
    json_patches,
    quantity_functions,
    semver,
)
from celadon.kube.library import list_aggregates as kube_lists
from celadon.kube.library.costs import charged, uncharged
from celadon.kube.releases import DEFAULT, Minor, current_release, parse_version
from celadon.records import dataclass, field


@dataclass(frozen=True, slots=True)
class Block:
    """One row of the table: libraries and switches that expressions may use which are written for a
    release (`introduced`) or a later one.

    `removed` is the release for which it may not be used any more. `since` and `until` name the
    servers that have it at all: the first, and the first that does not. `switches` are names of
    `Switches` fields and what they are set to.
    """

    introduced: Minor
    libraries: tuple[Library, ...] = ()
    validators: tuple[Validator, ...] = ()
    switches: Mapping[str, bool] = field(default_factory=dict)
    removed: Minor | None = None
    since: Minor | None = None
    until: Minor | None = None

    def is_in(self, release: Minor, server: Minor) -> bool:
        """Return whether a server has it for what is written for that release."""
        if (self.since and server < self.since) or (self.until and server >= self.until):
            return False
        return self.introduced <= release and (self.removed is None or release < self.removed)


_STANDARD: Final = charged(standard_library.LIBRARY)
_OLDER_STANDARD: Final = charged(standard_library.LIBRARY, besides=frozenset({"_==_"}))
_OF_CEL: Final = (sets.LIBRARY,)
"""Libraries that say what they cost themselves, whoever uses them."""

_SEMVER_FOR_ALL: Final = (1, 33)
"""Before, only selectors of devices had versions."""
_VERSIONS_OF_DEVICES: Final = (
    (_SEMVER_FOR_ALL, semver.OLDER_LIBRARY),
    ((1, 34), semver.STRICT_LIBRARY),
)
"""What servers before a release give them for expressions of older ones."""
_EQUALITY_CHARGED: Final = (1, 32)
"""Before, comparing values of Kubernetes' own types was taken for as costly as can be."""

_STRINGS: Final = charged(strings.library(2))
_OLDER_STRINGS: Final = charged(strings.library(2, checked_offsets=True))
"""As cel-go has them before 0.22: positions past the end are errors."""
_OLDEST_STRINGS: Final = _OLDER_STRINGS._replace(validators=(formatting.EXEMPTION,))
"""As cel-go has them before 0.18: nobody looks at what is formatted before it is."""

_EPOCH: Final = (1, 0)
_FORMATS: Final = (format_and_regex.FORMAT_LIBRARY,)

BLOCKS: Final = (
    Block(
        _EPOCH,
        libraries=(format_and_regex.REGEX_LIBRARY, kube_lists.LIBRARY),
        validators=(ast_validators.HOMOGENEOUS_LITERALS,),
        switches={"presence_test_has_cost": False},
    ),
    Block(_EPOCH, libraries=(ip_cidr_url.OLDER_URL_LIBRARY,), until=_EQUALITY_CHARGED),
    Block(_EPOCH, libraries=(ip_cidr_url.URL_LIBRARY,), since=_EQUALITY_CHARGED),
    Block(_EPOCH, switches={"older_names": True}, until=(1, 37)),
    Block(
        _EPOCH,
        switches={"older_lines": True, "older_schemas": True, "older_optionals": True},
        until=(1, 32),
    ),
    Block(_EPOCH, switches={"oldest_texts": True}, until=(1, 31)),
    Block(_EPOCH, switches={"older_sizes": True, "older_texts": True}, until=(1, 33)),
    Block(_EPOCH, libraries=(charged(strings.library(0)),), removed=(1, 29)),
    Block((1, 27), libraries=(authz.LIBRARY,)),
    Block(
        (1, 28),
        libraries=(quantity_functions.LIBRARY,),
        switches={"cross_type_numeric_comparisons": True, "optional_syntax": True},
    ),
    Block((1, 28), libraries=(optionals.library(1),), until=(1, 33)),
    Block((1, 28), libraries=(optionals.library(2),), since=(1, 33)),
    Block(
        (1, 29),
        libraries=(sets.LIBRARY,),
        validators=(
            ast_validators.DURATION,
            ast_validators.TIMESTAMP,
            ast_validators.MATCHES,
        ),
    ),
    Block((1, 29), libraries=(_OLDEST_STRINGS,), until=(1, 31)),
    Block((1, 29), libraries=(_OLDER_STRINGS,), since=(1, 31), until=(1, 32)),
    Block((1, 29), libraries=(_STRINGS,), since=(1, 32)),
    Block(
        (1, 27), libraries=(ip_cidr_url.IP_LIBRARY, ip_cidr_url.OLDER_CIDR_LIBRARY), until=(1, 31)
    ),
    Block((1, 30), libraries=(ip_cidr_url.IP_LIBRARY, ip_cidr_url.CIDR_LIBRARY), since=(1, 31)),
    Block((1, 30), libraries=_FORMATS, until=(1, 32)),
    Block((1, 31), libraries=_FORMATS, since=(1, 32)),
    Block((1, 31), libraries=(authz.SELECTORS_LIBRARY,), switches={"keyword_fields": True}),
    Block((1, 32), libraries=(comprehensions.LIBRARY,)),
    Block(_SEMVER_FOR_ALL, libraries=(semver.LIBRARY,)),
    Block((1, 34), libraries=(lists.library(3),)),
)
"""In the order in which they are loaded."""


@cache
def first_releases() -> Mapping[str, str]:
    """Return the release in which each overload came, by its id, and each macro, by its name;
    nothing for those that every release has. What older servers said of it counts only where newer
    ones say nothing."""
    result: dict[str, str] = {}
    for block in sorted(BLOCKS, key=lambda block: block.until is not None):
        release = "" if block.introduced[1] == 0 else "{}.{}".format(*block.introduced)
        for library in block.libraries:
            ids = [overload.id for function in library.functions for overload in function.overloads]
            for name in (*ids, *(macro.name for macro in library.macros)):
                result.setdefault(name, release)
    every = {macro.name for macro in _STANDARD.macros}
    return {name: release for name, release in result.items() if release and name not in every}


def environment(
    version: str = DEFAULT,
    *,
    has_patch_types: bool = False,
    has_bindings: bool = False,
    has_versions: bool = False,
    has_strict_costs: bool = True,
) -> Environment:
    """Return what a server of the current release has for expressions that are written for
    `version`, without variables: `extend` it with them.

    `has_patch_types` adds what only mutating policies have, `has_bindings` what only selectors of
    devices have (`cel.bind` and, earlier than others, versions), `has_versions` only the latter.
    Without `has_strict_costs`, calls of what Kubernetes adds to the language cost one each, as for
    policies and webhooks before 1.32. Raises VersionError.
    """
    release = parse_version(version)
    return _environment(
        release,
        max(release, parse_version(current_release())),
        has_patch_types=has_patch_types,
        has_bindings=has_bindings,
        has_versions=has_versions,
        has_strict_costs=has_strict_costs,
    )


@cache
def _environment(
    release: Minor,
    server: Minor,
    *,
    has_patch_types: bool,
    has_bindings: bool,
    has_versions: bool,
    has_strict_costs: bool,
) -> Environment:
    blocks = [block for block in BLOCKS if block.is_in(release, server)]
    switches: dict[str, bool] = {}
    for block in blocks:
        switches.update(block.switches)
    libraries = [library for block in blocks for library in block.libraries]
    if not has_strict_costs:
        libraries = [library if library in _OF_CEL else uncharged(library) for library in libraries]
    if has_bindings:
        libraries.append(comprehensions.bindings(0))
    if (has_bindings or has_versions) and release < _SEMVER_FOR_ALL:
        libraries += [
            versions_of_device
            for until, versions_of_device in _VERSIONS_OF_DEVICES
            if server < until
        ][:1]
    if has_patch_types:
        libraries.append(json_patches.LIBRARY)
    standard = _STANDARD if server >= _EQUALITY_CHARGED else _OLDER_STANDARD
    return Environment(
        standard=standard if has_strict_costs else standard_library.LIBRARY,
        libraries=libraries,
        validators=[validator for block in blocks for validator in block.validators],
        switches=Switches(**switches),
        family=json_patches.find_type if has_patch_types else None,
    )
