"""The plan of the house, in one table: rooms, doors, limits, and every exception with its reason.

The tests beside this module apply it and hold no table of their own. A list of exceptions may
shrink freely, and must: an exception that nothing needs any more is an offence as well. It grows
only with a reason that a reader will accept.
"""

from __future__ import annotations

MAY_USE: dict[str, set[str]] = {
    "cel": set(),
    "kube": {"cel"},
    "admission": {"cel", "kube"},
    "storage": {"kube"},
    "goyaml": {"cel", "kube"},
    "apiserver": {"cel", "kube", "admission", "storage", "goyaml"},
    "webhook": {"cel", "kube", "admission", "goyaml", "apiserver"},
    "prove": {"cel", "kube", "admission"},
    "migrate": {"cel", "kube", "admission"},
    "cli": {
        *("cel", "kube", "admission", "storage", "goyaml", "apiserver", "webhook", "prove"),
        "migrate",
    },
    "testing": {"cel", "kube", "admission", "storage", "goyaml", "apiserver", "webhook", "cli"},
}
"""Which rooms a room may import, besides itself."""

DOORS = {
    "celadon",
    "celadon.cel",
    "celadon.cel.extend",
    "celadon.cel.formatter",
    "celadon.cel.libraries",
    "celadon.cel.re2.pattern_parser",
    "celadon.cel.re2.pattern_tree",
    "celadon.cel.tracing",
    "celadon.cel.completion",
    "celadon.cel.value_functions",
    "celadon.kube",
    "celadon.kube.fieldmanager",
    "celadon.kube.resources",
    "celadon.kube.resources.autoscaler_conversion",
    "celadon.kube.crd",
    "celadon.kube.workload_controllers",
    "celadon.kube.defaulting",
    "celadon.kube.go",
    "celadon.kube.json_types",
    "celadon.kube.jsonpath",
    "celadon.kube.library",
    "celadon.kube.protobuf",
    "celadon.kube.quantity",
    "celadon.kube.rbac",
    "celadon.kube.schemas",
    "celadon.kube.selectors",
    "celadon.kube.validation",
    "celadon.kube.validation.cron_schedule",
    "celadon.kube.warnings",
    "celadon.kube.registry",
    "celadon.kube.releases",
    "celadon.kube.x509",
    "celadon.admission",
    "celadon.admission.chain",
    "celadon.admission.conversion",
    "celadon.admission.explain",
    "celadon.admission.compiled_expressions",
    "celadon.admission.partial_decisions",
    "celadon.admission.lint",
    "celadon.admission.policies.compiled_policy",
    "celadon.admission.policies.matching",
    "celadon.admission.policies.mutating",
    "celadon.admission.policies.params",
    "celadon.admission.plugins",
    "celadon.admission.plugins.admission_configuration",
    "celadon.admission.plugins.pod_security_expressions",
    "celadon.admission.plugins.pod_security_standards",
    "celadon.admission.registration",
    "celadon.admission.static_manifests",
    "celadon.admission.webhooks",
    "celadon.admission.write_requests",
    "celadon.migrate",
    "celadon.prove",
    "celadon.prove.definitions",
    "celadon.storage",
    "celadon.storage.etcd",
    "celadon.storage.sqlite_file",
    "celadon.goyaml",
    "celadon.apiserver",
    "celadon.apiserver.conversion_webhooks",
    "celadon.apiserver.webhook_routes",
    "celadon.apiserver.leaderelection",
    "celadon.apiserver.operation",
    "celadon.apiserver.clientconfig",
    "celadon.apiserver.tls",
    "celadon.apiserver.self_signed",
    "celadon.apiserver.http",
    "celadon.webhook",
    "celadon.webhook.applications",
    "celadon.webhook.certificates",
    "celadon.webhook.cluster",
    "celadon.webhook.handlers",
    "celadon.webhook.installation",
    "celadon.webhook.review_decisions",
    "celadon.webhook.service",
    "celadon.cli.policy_test_door",
    "celadon.cli.reading",
    "celadon.testing",
}
"""What one room may import of another."""

BESIDE: dict[str, set[str]] = {
    "celadon.cel.re2": set(),
    "celadon.goyaml": {"celadon.kube"},
    "celadon.storage.etcd": {"celadon.kube", "celadon.storage"},
}
"""Libraries that could stand beside the house (decision 0059), and the packages of it that they
import. SUPPORT is theirs, too."""

SUPPORT = ("celadon.late_patterns", "celadon.records")
"""What makes definitions cheap; it knows nothing."""

PURE = ("cel", "kube", "admission")
"""Rooms without input, output, threads, clocks, randomness or logging."""

# Limits.

MAX_MODULE = 800
"""Lines of one module."""

MAX_FUNCTION = 60
"""Lines of one function."""

MAX_FLOOR = 20
"""Modules in one folder, besides its `__init__`; sub-folders are not counted."""

MAX_DOOR = 30
"""Names of one door."""

LEAST = {
    "cel": 88, "kube": 93, "admission": 93, "storage": 80, "goyaml": 100, "apiserver": 88,
    "webhook": 95, "prove": 80, "migrate": 95, "cli": 99, "testing": 100,
}  # fmt: skip
"""How many of a room's public names are documented, in percent; a number that only rises."""

LONG_TEXT = 12
"""Characters of a text that is long: as a constant it may stand in one module only."""

# Exceptions to the limits.

LONG_MODULES: dict[str, str] = {}
"""Modules of more than `MAX_MODULE` lines, and why."""

LONG_FUNCTIONS: dict[str, str] = {}
"""Functions of more than `MAX_FUNCTION` lines, and why."""

WIDE_FLOORS: dict[str, str] = {
    "celadon.apiserver": "what a request goes through stands on one floor, in chapters",
    "celadon.cli.commands": "a module per command",
    "celadon.kube.validation": "a module per group of kinds, named after it",
}
"""Folders of more than `MAX_FLOOR` modules, and why."""

# What a module may contain.

FORBIDDEN_CALLS = {"globals", "print", "setattr"}
"""Builtins that no module calls."""

MAY_LOAD_LATE = {
    "celadon.testing": "tests of policies need no server, nor the packages of one",
}
"""Doors with a `__getattr__`, and why."""

IMPORTS_LATE = ("celadon.cli.", "celadon.pytest_plugin")
"""Where imports inside functions need no reason of their own: each command loads what it needs."""

IMPURE_MODULES = {
    "asyncio", "concurrent", "glob", "http", "io", "logging", "multiprocessing", "os", "pathlib",
    "queue", "random", "secrets", "select", "shutil", "signal", "socket", "ssl", "subprocess",
    "tempfile", "threading", "time", "urllib", "uuid",
}  # fmt: skip

MAY_IMPORT_IMPURE: dict[tuple[str, str], str] = {}
"""(module, what it imports) in a pure room, with the reason."""

EXTRAS = {"celadon.cel.protobuf": "google"}
"""Packages that are on top of an optional dependency, and what that is imported as."""

# Names.

DRAWERS = {"base", "common", "helpers", "manager", "misc", "shared", "utils"}
"""Names that say nothing of what is inside."""

SHARED_NAMES: dict[str, tuple[set[str], str]] = {}
"""Names that more than one module of a room has: which, and why a reader would expect it."""

INNER_DOORS = {
    "celadon.cel.protobuf": "on top of an optional dependency, so that nobody loads it by accident",
    "celadon.cel.re2": "a regular expression engine that has never heard of CEL",
}
"""Packages with public names that other rooms do not use."""

GO_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680"
    + "".join(map(chr, range(0x2000, 0x200B)))
    + ("\u2028\u2029\u202f\u205f\u3000")
)

HOMONYMS: dict[str, str] = {
    "'ValidatingAdmissionPolicy'": "a kind, and the plugin that asks the objects of that kind",
    "'MutatingAdmissionPolicy'": "a kind, and where its deprecated versions stand with all others",
    "'MutatingAdmissionPolicyBinding'": "as above",
    "'2026-01-01T00:00:00Z'": "when objects of tests are created; for when a CronJob makes a Job",
    "'celadon-webhook'": "a Service, a certificate and a source of Events, each with its own name",
    "'kube-apiserver'": "who writes leases, and whom a certificate is for",
    repr(GO_SPACE): "Go's white space, in texts of the language and in those of Kubernetes",
}
"""Values that stand more than once, as Python writes them, each with the reason."""

JSON_ALIASES = {
    "celadon.kube.json_types": "the one name of a JSON object, and its shapes",
    "celadon.admission.compiled_expressions": "what expressions know, not JSON",
    "celadon.cel.partial_evaluation": "a value of CEL, or what stands for one",
    "celadon.cel.program": "what expressions know, not JSON",
    "celadon.cel.values.conversions": "values of CEL by the names of fields",
    "celadon.kube.defaulting.field_functions": "a rule of the table of defaults",
    "celadon.kube.fieldmanager.field_sets": "`fieldsV1` of an entry of managedFields",
    "celadon.cli.policytest.file_format": "a JSON schema",
    "celadon.kube.registry.three_way_merge": "an item of a list with merge keys",
    "celadon.kube.registry.patches": "an operation of a JSON patch",
    "celadon.apiserver.bootstrap_objects": "the rules of a FlowSchema",
    "celadon.apiserver.operation.request_limits": "what an event loop waits for, not JSON",
    "celadon.apiserver.printers.tables": "a column of a table",
    "celadon.webhook.handlers": "the object that a handler may change",
    "celadon.webhook.webhook_rules": "a label selector",
}
"""Modules that may call `Any`, or an object of JSON, something."""

# What runs or loads what is read.

RUNS_OR_LOADS = {
    "__import__",
    "asyncio.SubprocessProtocol",
    "asyncio.create_subprocess_exec",
    "asyncio.create_subprocess_shell",
    "builtins",
    "cloudpickle",
    "code",
    "codeop",
    "compile",
    "concurrent.futures.ProcessPoolExecutor",
    "ctypes",
    "dill",
    "eval",
    "exec",
    "importlib.import_module",
    "importlib.machinery",
    "importlib.metadata",
    "importlib.reload",
    "jsonpickle",
    "marshal",
    "multiprocessing",
    "os.exec*",
    "os.popen",
    "os.posix_spawn*",
    "os.spawn*",
    "os.startfile",
    "os.system",
    "pickle",
    "pkgutil.resolve_name",
    "pty",
    "runpy",
    "shelve",
    "subprocess",
    "yaml.CFullLoader",
    "yaml.CLoader",
    "yaml.CUnsafeLoader",
    "yaml.FullLoader",
    "yaml.Loader",
    "yaml.UnsafeLoader",
    "yaml.full_load*",
    "yaml.load*",
    "yaml.unsafe_load*",
    "zipimport",
}
"""Modules, and names of modules, that run what they are given or make objects of any class; all
that begin so, with a `*`."""

FEW_DIGITS = {
    "celadon.cel.codegen.counted: add": "source that was generated",
    "celadon.storage.sqlite_file: _revision": "of 20 bytes",
}
"""Functions that ask whether a text is digits and not how many, and read it with `int`."""

ALLOWED = {
    (
        "celadon.admission.compiled_expressions",
        "marshal.dumps",
    ): "writes only, to count bytes",
    ("celadon.cel.program", "compile"): "the one place where generated Python is loaded",
    ("celadon.cel.program", "exec"): "the one place where generated Python is loaded",
    ("celadon.cli.audit.fleet_run", "concurrent.futures.ProcessPoolExecutor"): "our forks",
    ("celadon.cli.audit.fleet_run", "multiprocessing.get_context"): "our forks",
    ("celadon.cli.audit.fleet_run", "pickle.HIGHEST_PROTOCOL"): "for our forks",
    ("celadon.cli.audit.fleet_run", "pickle.dumps"): "for our forks",
    ("celadon.cli.audit.fleet_run", "pickle.loads"): "from this process to its forks: the "
    "digest of the file came by their pipe",
    ("celadon.cli.report.report_model", "importlib.import_module"): "of a table of ours",
    ("celadon.cli.language_server.lsp_adapter", "asyncio.create_subprocess_exec"): "Celadon itself",
    ("celadon.cli.envtest.kubectl_program", "os.execv"): "the kubectl that the user's PATH names",
    ("celadon.cli.envtest.kubectl_program", "subprocess.call"): "the same, on Windows",
    ("celadon.cli.diff", "subprocess.run"): "git, with words that are no options",
    ("celadon.kube.json_types", "marshal.dumps"): "writes only, to compare bytes",
    ("celadon.cli.main", "importlib.import_module"): "of the table of commands",
    ("celadon.cli.processes", "pickle.HIGHEST_PROTOCOL"): "for the process that forked this one",
    ("celadon.cli.processes", "pickle.dumps"): "for the process that forked this one",
    ("celadon.cli.processes", "pickle.loads"): "from a pipe to a fork of this process",
    ("celadon.apiserver.http.server_process", "importlib.import_module"): "of a table of ours",
    (
        "celadon.apiserver.clientconfig",
        "asyncio.SubprocessProtocol",
    ): "the command of a kubeconfig that the user has named, as kubectl runs it",
    ("celadon.apiserver.forks", "ctypes.CDLL"): "asks the kernel to end a fork with its parent",
    ("celadon.apiserver.workers", "ctypes.c_ulong"): "ends the work of a thread of ours",
    ("celadon.apiserver.workers", "ctypes.py_object"): "ends the work of a thread of ours",
    (
        "celadon.apiserver.workers",
        "ctypes.pythonapi.PyThreadState_SetAsyncExc",
    ): "ends the work of a thread of ours",
    ("celadon.testing", "importlib.import_module"): "of a table of ours",
    ("celadon.webhook.applications", "importlib.import_module"): "what the "
    "command line names, as `python -m` does",
}

# Names that nothing in the product uses.

PUBLIC = (
    "celadon.admission",
    "celadon.admission.explain",
    "celadon.cel",
    "celadon.cel.extend",
    "celadon.cel.protobuf",
    "celadon.cel.tracing",
    "celadon.testing",
    "celadon.webhook",
)
"""Doors at which users stand; what is there, and its members, need not be used in the product."""

CALLED_BY_OTHERS = {
    "celadon.apiserver.clientconfig._Printed": "asyncio",
    "celadon.cel.parsing.unparser.print_ast": "the form in which the golden cases show trees",
    "celadon.cel.checking.validators.comprehension_nesting_limit": "`cel.extend.validators`",
    "celadon.cel.re2.pattern.Pattern.strategy": "no answer shows how a pattern is searched",
    "celadon.cel.parsing.macros.BLOCK_MACROS": "what the suites of the specification declare",
    "celadon.cel.library.standard.SPECIFIED": "what the suites of the specification declare",
    "celadon.cel.parsing.macros.PROTOS_MACROS": "what the suites of the specification declare",
    "celadon.cli.audit.audit_inputs._Copy": "`io` calls it",
    "celadon.cli.main.CommandParser._print_message": "argparse calls it",
    "celadon.cli.commands.playground": "`http.server` calls it",
    "celadon.goyaml.yaml_events.FlowParser": "PyYAML calls it",
    "celadon.kube.resources.admission_plugins.PluginFacts": "what the plugins must agree with",
    "celadon.pytest_plugin": "pytest calls it",
    "celadon.apiserver.aggregation.remote_documents._Below": "msgspec reads and writes it",
    "celadon.apiserver.http.http_connection": "asyncio calls it",
    "celadon.webhook.webhook_app.Asking": "the keywords of `TestClient`",
    "celadon.webhook.webhook_rules._Values._": "what follows is given by keyword",
}
"""Names, classes or modules that others than the product call, and who."""

# Tests.

UNMIRRORED: dict[str, str] = {}
"""Test modules of a room whose folder is no room, sub-room or module of the product, and why."""


def reached(name: str) -> set[str]:
    """The room itself, those that it may use, and theirs."""
    return {name}.union(*map(reached, MAY_USE[name]))


def room(module: str) -> str:
    """`cel`, `kube`, ...; empty for the package itself."""
    package, *below = module.split(".")
    return below[0] if package == "celadon" and below and below[0] in MAY_USE else ""
