"""Documents in, findings out; and, for editors, what the expression at a place may name."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from celadon.admission import compiled_expressions, decision_source
from celadon.admission.lint.findings import (
    Finding,
    PolicyExpression,
    Role,
    corrected,
    names_of,
    written_finding,
)
from celadon.admission.lint.flow import accesses, rule_accesses
from celadon.admission.lint.kind_typecheck import ActualTypes, written_fields
from celadon.admission.lint.lint_context import (
    BindingCase,
    Bundle,
    KindTypes,
    LintMemory,
    MutatingCase,
    PolicyCase,
    Prepared,
    Registered,
    Rule,
    RuleCase,
    Settings,
    matched_kinds,
    operations_of,
)
from celadon.admission.lint.rules import (
    api_rules,
    effect_rules,
    mutation_rules,
    null_rules,
    value_rules,
    wording_rules,
)
from celadon.admission.policies.typecheck import TypeChecker
from celadon.admission.registration import registration_types
from celadon.admission.registration.decoding import BY_KIND, RegistrationError, decode_object
from celadon.admission.registration.policy_validation import validate_object_meta
from celadon.admission.registration.registration_strategies import validate_create
from celadon.admission.request import Operation
from celadon.cel import Environment, types
from celadon.kube import (
    ApiVersionError,
    FieldPath,
    GroupVersionKind,
    Json,
    JsonObject,
    metadata,
    parse_api_version,
)
from celadon.kube.crd import OLD_SELF, rule_scopes
from celadon.kube.go import trim_space
from celadon.kube.json_types import DEFINITION, misfit
from celadon.kube.library import environment
from celadon.kube.releases import answering_as
from celadon.kube.resources import Catalog, known_resources
from celadon.kube.schemas import Schema, SchemaType, custom_schemas, decode_schema, schema_type
from celadon.kube.well_known_values import ADMISSION_REGISTRATION, DEFINITION_KIND
from celadon.records import dataclass, replace

# --- Rule cases --------------------------------------------------------------
#
# The rules of a CustomResourceDefinition, compiled: a `RuleCase` for each node of its schemas
# that has any.


def rule_cases(number: int, definition: JsonObject, version: str) -> Iterator[RuleCase]:
    """Yield those of the definition with this number, as stored rules of this version."""
    base = environment(version)
    for i, item in enumerate(definition["spec"]["versions"]):
        value = item.get("schema")
        schema = value.get("openAPIV3Schema") if isinstance(value, dict) else None
        if isinstance(schema, dict):
            field_path = FieldPath("spec", "versions", i, "schema", "openAPIV3Schema")
            for path, node in _nodes_with_rules(field_path, decode_schema(schema)):
                case = _case(number, path, node, base, is_root=path == field_path)
                if case is not None:
                    yield case


def _nodes_with_rules(field_path: FieldPath, schema: Schema) -> Iterator[tuple[FieldPath, Schema]]:
    waiting = [(field_path, schema)]
    while waiting:
        path, node = waiting.pop()
        if node.rules:
            yield path, node
        for name, member in node.properties.items():
            waiting.append((path.child("properties").key(name), member))
        if node.items is not None:
            waiting.append((path.child("items"), node.items))
        if node.additional_properties is not None:
            waiting.append((path.child("additionalProperties"), node.additional_properties))


def _case(
    number: int, path: FieldPath, node: Schema, base: Environment, *, is_root: bool
) -> RuleCase | None:
    """Return the rule at a node; None where the node has no type, of which the API server
    complains."""
    scopes = rule_scopes(node, is_root=is_root)
    if scopes is None:
        return None
    expressions = []
    for i, rule in enumerate(node.rules):
        env = scopes.environment(base, optional=rule.optional_old_self)
        field_path = path.child("x-kubernetes-validations").index(i)
        expressions.append(_compiled(Role.RULE, i, field_path.child("rule"), rule.rule, env))
        if rule.message_expression:
            text, message_path = rule.message_expression, field_path.child("messageExpression")
            expressions.append(_compiled(Role.MESSAGE, i, message_path, text, env))
    transitions = {
        expression.index
        for expression in expressions
        if expression.role is Role.RULE
        and OLD_SELF in names_of(expression)
        and not node.rules[expression.index].optional_old_self
    }
    accesses = tuple(rule_accesses(expressions, transitions))
    return RuleCase(number, node, is_root, tuple(expressions), accesses)


def _compiled(
    role: Role, index: int, path: FieldPath, text: str, env: Environment
) -> PolicyExpression:
    tree, issues = env.parse(text)
    checked = None if tree is None or issues else env.check(tree).ast
    return PolicyExpression(role, index, path, text, env, tree, checked)


# --- Preparation -------------------------------------------------------------
#
# Documents to a `Bundle`: decoding, API validation and compiling, once.


def prepare(
    documents: Sequence[Mapping[str, Json]], settings: Settings, memory: LintMemory | None = None
) -> Bundle:
    """Return the documents of a run; their numbers are those of the findings. What `memory` knows
    is not made again."""
    memory = memory or LintMemory()
    kinds = [metadata.gvk(document) for document in documents]
    definitions = tuple(
        (number, document)
        for number, (document, kind) in enumerate(zip(documents, kinds, strict=True))
        if kind[::2] == DEFINITION_KIND and misfit(document, DEFINITION) is None
    )
    memory.begin((settings, definitions))
    catalog = known_resources()
    custom: dict[GroupVersionKind, Schema] = {}
    if definitions:
        catalog = catalog.with_crds(document for _, document in definitions)
        for _, definition in definitions:
            custom.update(custom_schemas(definition))
    preparer = _Preparer(Bundle(settings, catalog, custom=custom))
    registered: list[Prepared] = []
    others = []
    for number, (document, kind) in enumerate(zip(documents, kinds, strict=True)):
        if kind.group == ADMISSION_REGISTRATION and kind.kind in BY_KIND:
            make = partial(preparer.prepared, number, document, kind)
            registered.append(memory.prepared(document, number, make))
        else:
            others.append(document)
    memory.end()
    return Bundle(
        settings,
        catalog,
        tuple(prepared.registered for prepared in registered),
        tuple(prepared.policy for prepared in registered if prepared.policy is not None),
        tuple(prepared.binding for prepared in registered if prepared.binding is not None),
        tuple(prepared.mutating for prepared in registered if prepared.mutating is not None),
        others,
        custom,
        tuple(
            (prepared.policy, mistake)
            for prepared in registered
            if prepared.policy
            for mistake in prepared.mistakes
        ),
        tuple(
            (prepared.policy, problem)
            for prepared in registered
            if prepared.policy
            for problem in prepared.problems
        ),
        definitions,
        memory.rules(partial(_rules, definitions, settings)),
    )


def _rules(
    definitions: Sequence[tuple[int, Mapping[str, Json]]], settings: Settings
) -> tuple[RuleCase, ...]:
    return tuple(
        case
        for number, definition in definitions
        for case in rule_cases(number, definition, settings.version)
    )


class _Preparer:
    """Prepares one document after the other, by what the whole input defines."""

    def __init__(self, definitions: Bundle) -> None:
        self._settings = definitions.settings
        self._catalog = definitions.catalog
        self._actual = ActualTypes(definitions)
        self._published = TypeChecker(
            definitions.catalog, definitions.custom, definitions.settings.version
        )

    def prepared(
        self, number: int, document: Mapping[str, Json], kind: GroupVersionKind
    ) -> Prepared:
        """Return everything that can be known of a document without the others."""
        registered = _registered(number, document, kind, self._settings)
        policy = _policy(registered, self._catalog, self._settings)
        return Prepared(
            registered,
            policy,
            _binding(registered),
            _mutating(registered, self._catalog, self._settings),
            () if policy is None else tuple(self._actual.mistakes(policy)),
            () if policy is None else tuple(self._published.problems(policy.policy, 0)),
        )


def _registered(
    number: int, document: Mapping[str, Json], kind: GroupVersionKind, settings: Settings
) -> Registered:
    correction = corrected(document, kind)
    base = Registered(
        number,
        kind,
        correction.document,
        unknown_fields=correction.unknown,
        renamed=correction.renamed,
    )
    try:
        decoded = decode_object(correction.document, kind.kind, kind.version)
    except RegistrationError as error:
        return replace(base, failure=error)
    return replace(
        base,
        value=decoded.value,
        errors=(
            *validate_object_meta(decoded.value.metadata),
            *validate_create(decoded.value, settings.version),
        ),
    )


def _policy(registered: Registered, catalog: Catalog, settings: Settings) -> PolicyCase | None:
    policy = registered.value
    if not isinstance(policy, registration_types.ValidatingAdmissionPolicy):
        return None
    match = policy.spec.match_constraints
    operations = operations_of(() if match is None else match.resource_rules)
    expressions = tuple(_Compiler(policy.spec, settings.version).all(policy.spec))
    return PolicyCase(
        registered.document,
        policy,
        expressions,
        tuple(accesses(expressions, operations)),
        operations,
        matched_kinds(match, catalog),
    )


def _mutating(registered: Registered, catalog: Catalog, settings: Settings) -> MutatingCase | None:
    policy = registered.value
    if not isinstance(policy, registration_types.MutatingAdmissionPolicy):
        return None
    match = policy.spec.match_constraints
    compiler = _Compiler(policy.spec, settings.version)
    compiler.conditions_and_variables()
    expressions = tuple(compiler.mutations(policy.spec))
    return MutatingCase(
        registered.document,
        policy,
        expressions,
        matched_kinds(match, catalog),
        frozenset(matched_kinds(match, catalog, Operation.UPDATE.name)),
        tuple(written for expression in expressions for written in written_fields(expression)),
    )


def _binding(registered: Registered) -> BindingCase | None:
    binding = registered.value
    if not isinstance(binding, registration_types.ValidatingAdmissionPolicyBinding):
        return None
    return BindingCase(registered.document, binding)


class _Compiler:
    """Compiles the expressions of a policy as the engine would: in order, with the variables so
    far, as stored expressions of this version."""

    def __init__(
        self,
        spec: registration_types.PolicySpec | registration_types.MutatingPolicySpec,
        version: str,
    ) -> None:
        self._spec = spec
        self._version = version
        self._fields: dict[str, types.Type] = {}

    def conditions_and_variables(self) -> list[PolicyExpression]:
        """Return what both types of policies have; must come first."""
        spec = self._spec
        result = []
        for i, condition in enumerate(spec.match_conditions):
            path = decision_source.condition(i).path
            env = self._base(authorizer=True)
            result.append(
                self._compile(Role.CONDITION, i, path, condition.expression, env, condition.name)
            )
        for i, variable in enumerate(spec.variables):
            path = decision_source.variable(i).path
            expression = self._compile(
                Role.VARIABLE, i, path, variable.expression, self._env(), variable.name
            )
            dyn = (
                types.DYN
                if expression.checked is None
                else compiled_expressions.variable_type(expression.checked.type)
            )
            self._fields[variable.name] = dyn
            result.append(expression)
        return result

    def mutations(self, spec: registration_types.MutatingPolicySpec) -> Iterator[PolicyExpression]:
        """Yield those of a mutating policy."""
        env = self._env(has_patch_types=True)
        for i, mutation in enumerate(spec.mutations):
            is_patch = mutation.patch_type == registration_types.JSON_PATCH
            text = (mutation.json_patch if is_patch else mutation.apply_configuration) or ""
            path = decision_source.mutation(i, is_patch=is_patch).path
            yield self._compile(Role.MUTATION, i, path, text, env)

    def all(self, spec: registration_types.PolicySpec) -> list[PolicyExpression]:
        """Return the expressions of a validating policy."""
        expressions = self.conditions_and_variables()
        env, quiet = self._env(), self._env(authorizer=False)
        for i, validation in enumerate(spec.validations):
            path = decision_source.validation(i).path
            expressions.append(self._compile(Role.VALIDATION, i, path, validation.expression, env))
            if validation.message_expression:
                text = validation.message_expression
                path = decision_source.message(i).path
                expressions.append(self._compile(Role.MESSAGE, i, path, text, quiet))
        for i, annotation in enumerate(spec.audit_annotations):
            path = decision_source.annotation(i).path
            expressions.append(
                self._compile(Role.ANNOTATION, i, path, annotation.value_expression, env)
            )
        return expressions

    def _base(self, *, authorizer: bool, has_patch_types: bool = False) -> Environment:
        has_params = self._spec.param_kind is not None
        return compiled_expressions.base_environment(
            self._version,
            has_params=has_params,
            authorizer=authorizer,
            has_patch_types=has_patch_types,
        )

    def _env(self, *, authorizer: bool = True, has_patch_types: bool = False) -> Environment:
        env = self._base(authorizer=authorizer, has_patch_types=has_patch_types)
        if self._spec.variables:
            env = env.extend(
                {"variables": compiled_expressions.VARIABLES},
                [compiled_expressions.variables_object(self._fields)],
            )
        return env

    def _compile(
        self, role: Role, index: int, path: FieldPath, text: str, env: Environment, name: str = ""
    ) -> PolicyExpression:
        shift = 0
        if role in (Role.CONDITION, Role.ANNOTATION):
            trimmed = trim_space(text)
            shift = text.find(trimmed)
            text = trimmed
        tree, issues = env.parse(text)
        checked = None if tree is None or issues else env.check(tree).ast
        return PolicyExpression(role, index, path, text, env, tree, checked, name, shift)


# --- Rule table --------------------------------------------------------------
#
# All rules, in the order of their codes. A new family is one line here.

RULES: Final = (
    *api_rules.RULES,
    *value_rules.TYPE_RULES,
    *null_rules.RULES,
    *value_rules.RULES,
    *wording_rules.RULES,
    *effect_rules.BINDING_RULES,
    *effect_rules.RULES,
    *effect_rules.EXPENSE_RULES,
    *mutation_rules.RULES,
    *wording_rules.STATIC_RULES,
)
"""Every rule, by code."""


def lint(
    documents: Sequence[JsonObject],
    settings: Settings,
    rules: Sequence[Rule] = RULES,
    memory: LintMemory | None = None,
) -> list[Finding]:
    """Return what the rules have against the documents, which have `apiVersion` and `kind`; those
    of other groups are looked up. In the order of the documents, fields and positions. `memory`
    makes a run over nearly the same documents cheap. They are looked at as the release of the
    settings does."""
    with answering_as(settings.version):
        bundle = prepare(documents, settings, memory)
        findings = [finding for rule in rules for finding in rule.findings(bundle)]
    renamed = {
        registered.document: registered.renamed
        for registered in bundle.registered
        if registered.renamed
    }
    findings = [
        written_finding(finding, renamed.get(finding.spot.document, ())) for finding in findings
    ]
    return sorted(dict.fromkeys(findings), key=_place)


def policy_costs(documents: Sequence[JsonObject], settings: Settings) -> list[float]:
    """Return what each policy among the documents may cost at most, for an object of the size of
    the settings, in the units of the limits of an API server."""
    with answering_as(settings.version):
        return effect_rules.worst_costs(prepare(documents, settings))


def _place(finding: Finding) -> tuple[int, str, int, str]:
    offset = finding.spot.offset
    return finding.spot.document, finding.spot.field, -1 if offset is None else offset, finding.code


def chosen(
    select: Sequence[str], ignore: Sequence[str], rules: Sequence[Rule] = RULES
) -> list[Rule]:
    """Return the rules whose code or name begins with one of `select` (none: all) and none of
    `ignore`."""
    return [
        rule for rule in rules if (not select or _named(rule, select)) and not _named(rule, ignore)
    ]


def _named(rule: Rule, prefixes: Sequence[str]) -> bool:
    return any(rule.code.startswith(prefix) or rule.name == prefix for prefix in prefixes)


# --- Scopes of places, for editors -------------------------------------------
#
# What the expression at a place of a document may name, for editors: leniently, while it is
# typed.
#
# Other than the engine and the rules, this asks no document to be right. What cannot be decoded
# is left out: without rules there is no kind, and the object is of any type. A policy about
# several kinds has a scope for each of the first few.

MAX_SCOPES: Final = 4
"""Kinds that are looked at; with more, the object might be anything."""

Steps = Sequence[str | int]


@dataclass(frozen=True, slots=True)
class TypedScope:
    """Holds what expressions at one place may name, with types. `kind` is that of `object`,
    `object_type` its fields; None if nobody knows them."""

    environment: Environment
    kind: GroupVersionKind | None = None
    object_type: SchemaType | None = None


class TypedScopes:
    """Makes the scopes of all documents that stand beside these definitions; the types of a kind
    are made once."""

    def __init__(self, definitions: Iterable[JsonObject], settings: Settings) -> None:
        all_definitions = [
            definition
            for definition in definitions
            if metadata.gvk(definition)[::2] == DEFINITION_KIND
        ]
        self._version = settings.version
        with answering_as(settings.version):
            self._catalog: Catalog = known_resources()
        self._custom: dict[GroupVersionKind, Schema] = {}
        for crd in all_definitions:
            try:
                self._catalog = self._catalog.with_crds([crd])
                self._custom.update(custom_schemas(crd))
            except (AttributeError, KeyError, TypeError, ValueError):
                continue  # half written
        self._types = KindTypes(self._custom)
        self._document: JsonObject | None = None
        self._policies: dict[tuple[object, ...], _TypedVariables] = {}
        self._kinds: dict[Steps, list[GroupVersionKind]] = {}
        """Both of the document that was looked at last, by the owner of its expressions."""

    def at(self, document: JsonObject, path: Steps) -> list[TypedScope]:
        """Return the scopes of the expression there, at least one."""
        with answering_as(self._version):
            return self._at(document, path)

    def _at(self, document: JsonObject, path: Steps) -> list[TypedScope]:
        if self._document is not document:
            self._document = document
            self._policies.clear()
            self._kinds.clear()
        if metadata.gvk(document)[::2] == DEFINITION_KIND:
            return [self._of_rule(document, path)]
        kinds = self._kinds_of(document, _owner(path))
        if not kinds:
            return [TypedScope(self._of_policy(document, path, None))]
        return [
            TypedScope(self._of_policy(document, path, kind), kind, self._types.of(kind))
            for kind in kinds
        ]

    def _kinds_of(self, document: JsonObject, owner: Steps) -> list[GroupVersionKind]:
        """Return the kinds that the rules of a policy, or of a webhook, are about; none where
        `object` might be anything."""
        typed_kinds = self._kinds.get(owner)
        if typed_kinds is None:
            spec = _part(document, owner)
            rules = spec.get("rules") if owner[0] == "webhooks" else _scope_rules(spec)
            kinds = matched_kinds(_decoded(rules), self._catalog)
            typed_kinds = [kind for kind in kinds if self._types.of(kind) is not None]
            typed_kinds = [] if len(kinds) > MAX_SCOPES else typed_kinds
            self._kinds[owner] = typed_kinds
        return typed_kinds

    def _of_policy(
        self, document: JsonObject, path: Steps, kind: GroupVersionKind | None
    ) -> Environment:
        has_authorizer, has_patch_types = path[-1:] != ("messageExpression",), "mutations" in path
        key = (_owner(path), kind, has_authorizer, has_patch_types)
        typed = self._policies.get(key)
        if typed is None:
            spec = _part(document, _owner(path))
            env = self._without_variables(spec, kind, has_authorizer, has_patch_types)
            typed = self._policies[key] = _TypedVariables(env, spec.get("variables"))
        if "matchConditions" in path:
            return typed.environment
        is_variable = path[1:2] == ("variables",) and isinstance(path[2], int)
        return typed.before(int(path[2])) if is_variable else typed.all()

    def _without_variables(
        self,
        spec: JsonObject,
        kind: GroupVersionKind | None,
        has_authorizer: bool,  # noqa: FBT001
        has_patch_types: bool,  # noqa: FBT001
    ) -> Environment:
        obj = None if kind is None else self._types.of(kind)
        params = self._params(spec.get("paramKind"))
        names = compiled_expressions.variable_types(
            types.DYN if obj is None else obj.type,
            params=None if params is None else params.type,
            authorizer=has_authorizer,
        )
        objects = [
            object_type
            for typed_kind in (obj, params)
            if typed_kind is not None
            for object_type in typed_kind.objects
        ]
        base = environment(self._version, has_patch_types=has_patch_types)
        return base.extend(names, (*compiled_expressions.OBJECT_TYPES, *objects))

    def _params(self, param_kind: object) -> SchemaType | None:
        """Return the type of `params`; None where there are none."""
        if not isinstance(param_kind, dict):
            return None
        anything = SchemaType(types.DYN)
        try:
            group_version = parse_api_version(str(param_kind.get("apiVersion")))
        except ApiVersionError:
            return anything
        return (
            self._types.of(GroupVersionKind(*group_version, str(param_kind.get("kind"))))
            or anything
        )

    def _of_rule(self, document: JsonObject, path: Steps) -> TypedScope:
        """`self` and `oldSelf` of a rule of a definition."""
        schema = self._schema(document, path)
        self_type = None if schema is None else schema_type(schema, "self")
        declared = types.DYN if self_type is None else self_type.type
        env = environment(self._version).extend(
            {"self": declared, "oldSelf": declared}, () if self_type is None else self_type.objects
        )
        return TypedScope(env)

    def _schema(self, document: JsonObject, path: Steps) -> Schema | None:
        """Return the node of the definition's schema that a rule stands at."""
        version = _part(document, path[:3]).get("name") if path[1:2] == ("versions",) else None
        roots = {kind.version: schema for kind, schema in self._of_definition(document).items()}
        node: Schema | None = (
            roots.get(str(version)) if version else next(iter(roots.values()), None)
        )
        steps = list(
            path[path.index("openAPIV3Schema") + 1 : path.index("x-kubernetes-validations")]
        )
        while steps and node is not None:
            step = steps.pop(0)
            if step == "properties" and steps:
                node = node.properties.get(str(steps.pop(0)))
            elif step == "items":
                node = node.items
            elif step == "additionalProperties":
                node = node.additional_properties
            else:
                return None
        return node

    def _of_definition(self, document: JsonObject) -> Mapping[GroupVersionKind, Schema]:
        spec = _part(document, ("spec",))
        return {
            kind: schema
            for kind, schema in self._custom.items()
            if kind.group == spec.get("group") and kind.kind == _part(spec, ("names",)).get("kind")
        }


def _owner(path: Steps) -> Steps:
    """Return where the policy, or the webhook, is that an expression belongs to."""
    return tuple(path[:2]) if path[:1] == ("webhooks",) else ("spec",)


class _TypedVariables:
    """The variables of a policy, each typed once: an expression may name all, a variable those
    before it. `environment` is what all may name."""

    def __init__(self, environment: Environment, variables: object) -> None:
        self.environment = environment
        self._variables = variables if isinstance(variables, list) else None
        self._base = environment.extend({"variables": compiled_expressions.VARIABLES})
        self._fields: dict[str, types.Type] = {}
        self._growing = self._extended(self._fields)
        self._places: dict[str, int] = {}
        self._count = 0
        self._last = (-1, environment)

    def all(self) -> Environment:
        """Return what an expression may name."""
        return self.environment if self._variables is None else self.before(len(self._variables))

    def before(self, count: int) -> Environment:
        """Return what the variable with that index may name."""
        if self._variables is None:
            return self.environment
        for number in range(self._count, min(count, len(self._variables))):
            self._take(number, self._variables[number])
            self._count = number + 1
        if self._last[0] != count:
            fields = _FirstFields(self._fields, self._places, count)
            self._last = count, self._extended(fields)
        return self._last[1]

    def _take(self, number: int, variable: object) -> None:
        if not isinstance(variable, dict) or not isinstance(name := variable.get("name"), str):
            return
        text = variable.get("expression")
        checked = self._growing.compile(text).ast if isinstance(text, str) else None
        self._fields.setdefault(name, types.DYN if checked is None else checked.type)
        self._places.setdefault(name, number)

    def _extended(self, fields: Mapping[str, types.Type]) -> Environment:
        return self._base.extend(objects=[compiled_expressions.variables_object(fields)])


class _FirstFields(Mapping[str, types.Type]):
    """The types of variables whose index is below `count`: a copy for each of thousands of
    variables would take too long."""

    def __init__(
        self, fields: Mapping[str, types.Type], places: Mapping[str, int], count: int
    ) -> None:
        self._fields = fields
        self._places = places
        self._count = count

    def __getitem__(self, name: str) -> types.Type:
        if self._places[name] >= self._count:
            raise KeyError(name)
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return itertools.takewhile(lambda name: self._places[name] < self._count, self._places)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _part(value: object, path: Steps) -> JsonObject:
    """Return the map at a path; an empty one where there is none."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return {}
    return value if isinstance(value, dict) else {}


def _scope_rules(spec: JsonObject) -> object:
    return _part(spec, ("matchConstraints",)).get("resourceRules")


def _decoded(rules: object) -> registration_types.MatchResources | None:
    """Decode rules as a policy has them; return None where they cannot be read."""
    document = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "scope"},
        "spec": {"matchConstraints": {"resourceRules": rules}},
    }
    try:
        decoded = decode_object(document, "ValidatingAdmissionPolicy").value
    except RegistrationError:
        return None
    assert isinstance(decoded, registration_types.ValidatingAdmissionPolicy)
    return decoded.spec.match_constraints
