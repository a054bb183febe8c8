"""Templates in Rego that are known by their content, and what the general ones demand, in CEL.

Rego is not translated. The templates of gatekeeper-library are known: the digest of a template's
text, without comments and layout, says that it is the text whose meaning was written down here. A
template that someone has changed has another digest, and is not translated.

Each table names a template's kind, the digests of its texts, and what it demands, in CEL. A check
is a list of what is wrong, as a variable, which must be empty: so the message can name all that is
wrong, as Gatekeeper does. `params.spec` has the constraint's parameters.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

Check = tuple[str, str]
"""An expression, and the one of its message."""
Variable = tuple[str, str]
"""A name, and what it stands for."""


@dataclass(frozen=True, slots=True)
class KnownTemplate:
    """A template whose text has one of these digests demands these checks."""

    digests: frozenset[str]
    """Those of its texts, all of which decide alike."""
    checks: tuple[Check, ...]
    variables: tuple[Variable, ...] = ()
    operations: tuple[str, ...] = ()
    """Those that are meant; empty if all that Gatekeeper asks about are."""
    digests_of_all_operations: frozenset[str] = frozenset()
    """Those of its texts that look at every operation that Gatekeeper asks about."""
    needs: tuple[str, ...] = ()
    """Parameters without which it refuses nothing, since its messages mention them."""
    looks_up_with: str = ""
    """The parameter with which it looks up other objects."""


_TOKENS: Final = re.compile(r'"(?:[^"\\]|\\.)*+"?|`[^`]*+`?|#[^\n]*|\s+|[^\s"`#]+')


def digest(texts: Sequence[str]) -> str:
    """Return the digest of a text of Rego and its libraries: of its tokens, on lines of their own,
    without comments, empty lines and the room between them, and without the name of its package,
    which nothing depends on."""
    text, *libraries = map(_plain, texts)
    plain = [_PACKAGE.sub("", text), *libraries]
    return hashlib.sha256("\n\n".join(plain).encode()).hexdigest()[:DIGITS]


_PACKAGE: Final = re.compile(r"\Apackage \S+\n?")

DIGITS: Final = 32
"""How many of its hexadecimal digits tell a digest from all others."""


def _plain(text: str) -> str:
    result = []
    for match in _TOKENS.finditer(text):
        token = match[0]
        if token.isspace():
            result.append("\n" if "\n" in token else " ")
        elif not token.startswith("#"):
            result.append(token)
    lines = re.sub(r"(?<! ) *\n[ \n]*", "\n", "".join(result)).strip()
    return re.sub(r"\n+", "\n", lines)


# --- General templates -------------------------------------------------------

CONTAINERS: Final = "object.?spec.?containers.orValue([])"
INIT: Final = "object.?spec.?initContainers.orValue([])"
EPHEMERAL: Final = "object.?spec.?ephemeralContainers.orValue([])"

EXEMPT: Final = (
    "params.spec.?exemptImages.orValue([]).exists(image, "
    "image.endsWith('*') ? container.image.startsWith(image.substring(0, size(image) - 1)) "
    ": container.image == image)"
)
"""Whether a container has an image that is exempt."""


def listed(texts: str) -> str:
    """Return an expression for a list of texts as Rego prints it."""
    return f"""'["' + {texts}.join('", "') + '"]'"""


def none_of(variable: str, item: str, message: str) -> Check:
    """Return the check that a list of what is wrong is empty; the message has an item of it."""
    result = f"variables.{variable}"
    return f"size({result}) == 0", f"{result}.map({item}, {message}).join('; ')"


def whole(
    digests: Collection[str],
    holds: str,
    message: str,
    *variables: Variable,
    operations: tuple[str, ...] = (),
    digests_of_all_operations: frozenset[str] = frozenset(),
    needs: tuple[str, ...] = (),
) -> KnownTemplate:
    """Return a template that judges an object as one."""
    return KnownTemplate(
        frozenset(digests),
        ((holds, message),),
        variables,
        operations,
        digests_of_all_operations,
        needs,
    )


def none_wrong(
    digests: Collection[str],
    variable: str,
    item: str,
    message: str,
    *variables: Variable,
    operations: tuple[str, ...] = (),
    digests_of_all_operations: frozenset[str] = frozenset(),
    needs: tuple[str, ...] = (),
) -> KnownTemplate:
    """Return a template that demands only that a list of what is wrong is empty (`none_of`)."""
    return whole(
        digests,
        *none_of(variable, item, message),
        *variables,
        operations=operations,
        digests_of_all_operations=digests_of_all_operations,
        needs=needs,
    )


def meant(*lists: str, exempt: bool = True) -> str:
    """Return an expression for the containers that are judged."""
    together = " + ".join(lists)
    if not exempt:
        return together
    items = together if len(lists) == 1 else f"({together})"
    return f"{items}.filter(container, !{EXEMPT})"


# --- Images ------------------------------------------------------------------

_FIELDS: Final = (
    ("container", "Containers", CONTAINERS),
    ("initContainer", "InitContainers", INIT),
    ("ephemeralContainer", "EphemeralContainers", EPHEMERAL),
)


def _images(
    digests: Sequence[str], wrong: str, message: str, *, exempt: bool = False, needs: str = ""
) -> KnownTemplate:
    """Return a template that judges images, each kind of container with a message of its own."""
    condition = f"has(container.image) && {f'!{EXEMPT} && ' if exempt else ''}{wrong}"
    return KnownTemplate(
        frozenset(digests),
        tuple(
            none_of(f"wrong{name}", "container", f"'{word} <' + container.name + {message}")
            for word, name, _ in _FIELDS
        ),
        tuple(
            (f"wrong{name}", f"{items}.filter(container, {condition})")
            for _, name, items in _FIELDS
        ),
        needs=(needs,) if needs else (),
    )


_ALLOWED_REPOS: Final = _images(
    ("293dee0e45f963ed6b6034b2e17547e8", "ccd799b10911a55c3873fe000838f4a4"),
    "!params.spec.repos.exists(repo, container.image.startsWith(repo))",
    "'> has an invalid image repo <' + container.image + '>, allowed repos are ' + "
    + listed("params.spec.repos"),
    needs="repos",
)
_ALLOWED_IMAGES: Final = _images(
    ("38fad0202afcdd96774690cf88185416",),
    "!params.spec.allowedImages.exists(image, image.endsWith('*') "
    "? container.image.startsWith(image.substring(0, size(image) - 1)) : container.image == image)",
    "'> has an invalid image <' + container.image + '>, allowed images are ' + "
    + listed("params.spec.allowedImages"),
    needs="allowedImages",
)
_DISALLOWED_REPOS: Final = _images(
    ("2d65e5847b16d99ecb62fad9af27fa91",),
    "params.spec.repos.exists(repo, container.image.startsWith(repo))",
    "'> has an invalid image repo <' + container.image + '>, disallowed repos are ' + "
    + listed("params.spec.repos"),
    needs="repos",
)
_DIGESTS: Final = _images(
    ("b79c5951fc29074b667945d79f96d35d", "d55e2d4ab2633448cae6dcd22fe9a347"),
    "!container.image.matches('^.*@[a-z0-9]+([+._-][a-z0-9]+)*:[a-zA-Z0-9=_-]+')",
    "'> uses an image without a digest <' + container.image + '>'",
    exempt=True,
)


def _tags(digests: Sequence[str], containers: str, tagged: str) -> KnownTemplate:
    """Return a template that demands other tags than some; `tagged` is whether there is one."""
    return KnownTemplate(
        frozenset(digests),
        (
            none_of(
                "wronglyTagged",
                "container",
                "'container <' + container.name + '> uses a disallowed tag <' + container.image + "
                "'>; disallowed tags are ' + " + listed("params.spec.tags"),
            ),
            none_of(
                "untagged",
                "container",
                """'container <' + container.name + "> didn't specify an image tag <" + """
                "container.image + '>'",
            ),
        ),
        (
            ("containers", containers),
            (
                "wronglyTagged",
                "variables.containers.filter(container, "
                "params.spec.?tags.orValue([]).exists(tag, container.image.endsWith(':' + tag)))",
            ),
            ("untagged", f"variables.containers.filter(container, !{tagged})"),
        ),
    )


_DISALLOWED_TAGS: Final = (
    _tags(
        ("b472351cce4c38479e2da65416e0a44a",),
        meant(CONTAINERS, INIT, EPHEMERAL),
        "container.image.substring(container.image.lastIndexOf('/') + 1).contains(':')",
    ),
    # Older texts take the port of a registry for a tag.
    _tags(
        ("5779290cada3168a0b21c2ac54ee21da", "ee5d62bd4eeb33688d7a8bfa47cf330d"),
        meant(CONTAINERS, INIT, EPHEMERAL),
        "container.image.contains(':')",
    ),
    _tags(
        ("777f3770353959ef5771abf2005e9ed2",),
        meant(CONTAINERS, INIT),
        "container.image.contains(':')",
    ),
)


# --- Pods and their controllers ----------------------------------------------

_AUTOMOUNT: Final = whole(
    ("f53989ab336b00d9fa70c8e1d198735f",),
    "!variables.mountsToken",
    "'Automounting service account token is disallowed, pod: ' + object.metadata.name",
    ("containers", meant(CONTAINERS, INIT, exempt=False)),
    (
        "mountsToken",
        "object.?spec.?automountServiceAccountToken.orValue("
        "variables.containers.exists(container, container.?volumeMounts.orValue([]).exists("
        "mount, mount.mountPath == '/var/run/secrets/kubernetes.io/serviceaccount')))",
    ),
    operations=("CREATE",),
    digests_of_all_operations=frozenset({"a94368fd9db4860f07f4a45c7783388f"}),
)
_INTERACTIVE: Final = none_wrong(
    ("72dfd0f742db47997581c0e0e3ef6297",),
    "interactive",
    "container",
    "'Containers using tty or stdin (' + container.name + ') are not allowed running "
    "image: ' + container.image",
    ("containers", meant(CONTAINERS, INIT, EPHEMERAL)),
    (
        "interactive",
        "variables.containers.filter(container, "
        "container.?stdin.orValue(false) || container.?tty.orValue(false))",
    ),
)
_REPLICAS: Final = whole(
    (
        "06a3d0f8a84a66f8fb531cfc610900ed",
        "df7e6e92d2e47a3bf181a86026e1167a",
        "5d91d99437d396d842abd9ad84f3aeb8",
    ),
    "!has(object.spec) || (has(object.spec.replicas) && "
    "params.spec.?ranges.orValue([]).exists(range, "
    "range.min_replicas <= object.spec.replicas && "
    "object.spec.replicas <= range.max_replicas))",
    "'The provided number of replicas is not allowed for ' + object.kind + ': ' + "
    "object.metadata.name + '. Allowed ranges: ' + "
    "params.spec.?ranges.orValue([]).map(range, "
    "string(range.min_replicas) + ' to ' + string(range.max_replicas)).join(', ')",
)
_AUTOSCALER: Final = KnownTemplate(
    frozenset({"928cceffa981aac19912d5e931d9004d"}),
    (
        (
            "!variables.isAutoscaler || !has(params.spec.ranges) || "
            "params.spec.ranges.exists(range, "
            "range.min_replicas <= object.spec.minReplicas && "
            "object.spec.maxReplicas <= range.max_replicas)",
            "'The HorizontalPodAutoscaler <' + object.metadata.name + '> minReplicas ' + "
            "string(object.spec.minReplicas) + ' or maxReplicas ' + "
            "string(object.spec.maxReplicas) + ' is not allowed. Allowed ranges: ' + "
            "params.spec.ranges.map(range, "
            "string(range.min_replicas) + ' to ' + string(range.max_replicas)).join(', ')",
        ),
        (
            "!variables.isAutoscaler || !has(params.spec.minimumReplicaSpread) || "
            "object.spec.maxReplicas - object.spec.minReplicas >= "
            "params.spec.minimumReplicaSpread",
            "'The HorizontalPodAutoscaler <' + object.metadata.name + '> is configured with "
            "minReplicas ' + string(object.spec.minReplicas) + ' and maxReplicas ' + "
            "string(object.spec.maxReplicas) + '. The spread must be at least ' + "
            "string(params.spec.minimumReplicaSpread) + ' replica(s)'",
        ),
    ),
    (("isAutoscaler", "request.kind.kind == 'HorizontalPodAutoscaler'"),),
    looks_up_with="enforceScaleTargetRef",
)
_PROBES: Final = none_wrong(
    ("4ab94a1ec98de812ec53a50b72cb4028",),
    "unprobed",
    "container",
    "'Container <' + container.name + '> in your <' + object.kind + '> <' + "
    "object.metadata.name + '> has not all of the probes ' + params.spec.probes.join(', ')",
    ("containers", CONTAINERS),
    (
        "unprobed",
        "variables.containers.filter(container, !params.spec.probes.all(probe, "
        "params.spec.?probeTypes.orValue([]).exists(type, "
        "type in dyn(container)[?probe].orValue({}))))",
    ),
    operations=("CREATE",),
    digests_of_all_operations=frozenset({"2d829a49c2f11d03b5375f6d7d419333"}),
    needs=("probes",),
)
_ACCOUNT: Final = (
    "dyn({0}).?spec.?jobTemplate.?spec.?template.?spec.or(dyn({0}).?spec.?template.?spec)"
    ".or(dyn({0}).?spec).?serviceAccountName.orValue('')"
)
"""The service account of an object: of a CronJob, a controller, or a Pod."""

_KEEPS_ACCOUNT: Final = KnownTemplate(
    frozenset({"0faf4dacd71c3a4043c8bb5d5f106d9a", "e21313f58b2e028bcb7b1be422cf97ec"}),
    (
        (
            "variables.newAccount != ''",
            "'missing serviceAccountName field in object under review'",
        ),
        (
            "variables.oldAccount != ''",
            "'missing serviceAccountName field in oldObject under review'",
        ),
        (
            "variables.newAccount == variables.oldAccount || variables.mayChange",
            "'user does not have permission to modify serviceAccountName'",
        ),
    ),
    (
        ("newAccount", _ACCOUNT.format("object")),
        ("oldAccount", _ACCOUNT.format("oldObject")),
        (
            "mayChange",
            "request.userInfo.username in params.spec.?allowedUsers.orValue([]) || "
            "params.spec.?allowedGroups.orValue([]).exists(group, "
            "group in request.userInfo.?groups.orValue([]))",
        ),
    ),
    ("UPDATE",),
)

# --- Services and Ingresses --------------------------------------------------


def _no_services(digest: str, kind: str) -> KnownTemplate:
    return whole(
        (digest,),
        f"request.kind.kind != 'Service' || object.spec.?type.orValue('') != '{kind}'",
        f"'User is not allowed to create service of type {kind}'",
    )


_IS_INGRESS: Final = (
    "object.kind == 'Ingress' && object.apiVersion.matches('^(extensions|networking.k8s.io)/')"
)
_ALLOWS_NO_HTTP: Final = (
    "object.metadata.?annotations[?'kubernetes.io/ingress.allow-http'].orValue('') == 'false'"
)
_HTTPS: Final = whole(
    ("cde2d5de7b16a259801b473815af6cf6", "8004e16735ba157edebb644ec2b1483a"),
    "!variables.isIngress || variables.allowsNoHttp && "
    "(variables.tlsIsOptional || size(object.?spec.?tls.orValue([])) > 0)",
    "'Ingress should be https. ' + (variables.tlsIsOptional "
    "? 'The allow-http=false annotation is required for ' "
    ": 'tls configuration and allow-http=false annotation are required for ') + "
    "object.metadata.name",
    ("isIngress", _IS_INGRESS),
    ("allowsNoHttp", _ALLOWS_NO_HTTP),
    ("tlsIsOptional", "params.spec.?tlsOptional.orValue(false)"),
)
_HTTPS_ALWAYS: Final = whole(
    ("774d5bd60be751f0983c12649bac9aab", "cd68db867caab96a6e256b74fe2d7802"),
    "!variables.isIngress || variables.allowsNoHttp && size(object.?spec.?tls.orValue([])) > 0",
    "'Ingress should be https. tls configuration and allow-http=false annotation are "
    "required for ' + object.metadata.name",
    ("isIngress", _IS_INGRESS),
    ("allowsNoHttp", _ALLOWS_NO_HTTP),
)
_WILDCARDS: Final = none_wrong(
    ("3a3508a75b419bbd9cb125304a4a4c0c",),
    "wildcards",
    "host",
    """"Hostname '" + host + "' is not allowed since it counts as a wildcard, which can """
    """be used to intercept traffic from other applications.\"""",
    ("rules", "object.kind == 'Ingress' ? object.?spec.?rules.orValue([]) : []"),
    (
        "wildcards",
        "variables.rules.map(rule, rule.?host.orValue(''))"
        ".filter(host, host == '' || host.contains('*'))",
    ),
)
_EXTERNAL: Final = whole(
    ("36b20018219ff4b94d287122e935c423",),
    "size(variables.forbidden) == 0",
    """'service has forbidden external IPs: {"' + """
    """variables.forbidden.join('", "') + '"}'""",
    (
        "forbidden",
        "(request.kind.kind == 'Service' && request.kind.group == '' "
        "? object.?spec.?externalIPs.orValue([]) : [])"
        ".filter(ip, !(ip in params.spec.?allowedIPs.orValue([])))",
    ),
)

# --- Any object --------------------------------------------------------------


def _required(
    digests: Sequence[str], field: str, title: str, missing: str, text: str = "{}"
) -> KnownTemplate:
    """Return a template that requires labels or annotations; `text` has the messages in it."""
    missing = f"""'{missing}: {{"' + variables.missing.join('", "') + '"}}'"""
    mismatched = (
        f"variables.mismatched.map(wanted, '{title} <' + wanted.key + ': ' + "
        f"variables.{field}[wanted.key] + '> does not satisfy allowed regex: ' + "
        "wanted.allowedRegex).join('; ')"
    )
    return KnownTemplate(
        frozenset(digests),
        (
            ("size(variables.missing) == 0", text.format(missing)),
            ("size(variables.mismatched) == 0", text.format(mismatched)),
        ),
        (
            (field, f"object.metadata.?{field}.orValue({{}})"),
            ("wanted", f"params.spec.?{field}.orValue([])"),
            (
                "missing",
                "variables.wanted.map(wanted, wanted.key)"
                f".filter(key, !(key in variables.{field}))",
            ),
            (
                "mismatched",
                f"variables.wanted.filter(wanted, wanted.key in variables.{field} && "
                "wanted.?allowedRegex.orValue('') != '' && "
                f"!variables.{field}[wanted.key].matches(wanted.allowedRegex))",
            ),
        ),
    )


_ANNOTATIONS: Final = _required(
    ("36b75d707a7205d9a37b2aac8573ef4c", "b4786840836b2a192f23f0c6887d6010"),
    "annotations",
    "Annotation",
    "you must provide annotation(s)",
)
_LABELS: Final = _required(
    ("f3780a88a1ac946c1954a89394085421", "badc8029e77010972d06e92b0a80532e"),
    "labels",
    "Label",
    "you must provide labels",
    "string(params.spec.?message.orValue({}))",
)
_DEPRECATED: Final = none_wrong(
    ("66a9f2ddf3399948b234fe802c0f4ca8",),
    "deprecated",
    "api",
    "'API ' + object.kind + ' for ' + object.apiVersion + ' is deprecated in Kubernetes "
    "version ' + string(params.spec.k8sVersion) + ', please ' + (api.targetAPI == 'None' "
    "? 'see Kubernetes API deprecation guide' : 'use ' + api.targetAPI + ' instead')",
    (
        "deprecated",
        "params.spec.?kvs.orValue([]).filter(api, "
        "api.deprecatedAPI == object.apiVersion && object.kind in api.kinds)",
    ),
    needs=("k8sVersion",),
)
_ENDPOINTS: Final = whole(
    ("cbe8be1b6554819478c9e162b8150533",),
    "object.metadata.name != 'system:aggregate-to-edit' || "
    "!variables.rules.exists(rule, 'endpoints' in rule.?resources.orValue([]) && "
    "rule.verbs.exists(verb, verb in ['create', 'patch', 'update']))",
    "'ClusterRole system:aggregate-to-edit should not allow endpoint edit permissions. "
    "For k8s version < 1.22, the Cluster Role should be annotated with "
    "rbac.authorization.kubernetes.io/autoupdate=false to prevent autoreconciliation back "
    "to default permissions for this role.'",
    ("rules", "!has(object.rules) || dyn(object.rules) == null ? [] : object.rules"),
)

_NOBODY: Final = "['system:unauthenticated', 'system:anonymous']"


def _anonymous(digest: str, nobody: str = _NOBODY, *, needs: str = "") -> KnownTemplate:
    """Return a template that lets only some roles be bound to `nobody`."""
    return whole(
        (digest,),
        "object.?roleRef.?name.orValue('') in params.spec.?allowedRoles.orValue([]) || "
        "size(variables.anonymous) == 0",
        "variables.anonymous.map(name, name + ' is not allowed as a subject name in ' + "
        "object.kind + ' ' + object.metadata.name).join('; ')",
        ("subjects", "object.?subjects.orValue([]).map(subject, subject.name)"),
        (
            "anonymous",
            f"{nobody}.filter(name, name in variables.subjects)",
        ),
        needs=(needs,) if needs else (),
    )


_ANONYMOUS: Final = (
    _anonymous(
        "7f4badce1548b6c566472801b8d0db83",
        f"({_NOBODY} + "
        "(params.spec.?disallowAuthenticated.orValue(false) ? ['system:authenticated'] : []))",
    ),
    _anonymous("835eca0da073173d32d73db5d9221209"),
    _anonymous("df338bb155a1ab14943fe25db90ad675", needs="allowedRoles"),
)

KNOWN: Final = {
    "K8sAllowedRepos": (_ALLOWED_REPOS,),
    "K8sAllowedReposv2": (_ALLOWED_IMAGES,),
    "K8sBlockEndpointEditDefaultRole": (_ENDPOINTS,),
    "K8sBlockLoadBalancer": (_no_services("7c4aa56638af2e3049cf036cf4fd5146", "LoadBalancer"),),
    "K8sBlockNodePort": (_no_services("898be9fbd0d69f98c3af263b9b31285d", "NodePort"),),
    "K8sBlockWildcardIngress": (_WILDCARDS,),
    "K8sDisallowAnonymous": _ANONYMOUS,
    "K8sDisallowInteractiveTTY": (_INTERACTIVE,),
    "K8sDisallowedRepos": (_DISALLOWED_REPOS,),
    "K8sDisallowedTags": _DISALLOWED_TAGS,
    "K8sExternalIPs": (_EXTERNAL,),
    "K8sHorizontalPodAutoscaler": (_AUTOSCALER,),
    "K8sHttpsOnly": (_HTTPS, _HTTPS_ALWAYS),
    "K8sImageDigests": (_DIGESTS,),
    "K8sPSPAutomountServiceAccountTokenPod": (_AUTOMOUNT,),
    "K8sReplicaLimits": (_REPLICAS,),
    "K8sRequiredAnnotations": (_ANNOTATIONS,),
    "K8sRequiredLabels": (_LABELS,),
    "K8sRequiredProbes": (_PROBES,),
    "NoUpdateServiceAccount": (_KEEPS_ACCOUNT,),
    "VerifyDeprecatedAPI": (_DEPRECATED,),
}
"""The templates by their kinds."""
