"""The admission room: a request and a world in, a verdict out.

    engine = Engine(policies, bindings)
    engine.review(Request(...), ObjectWorld(objects)).allowed

Pure: whatever the engine has to look up arrives through the `World` it is given. Read first:
`policies.validating` (which policies look at a request, in which order), `policies.compiled_policy`
(one policy, one binding, one param), `verdict` (what comes out). Policies come in as JSON:
`decode_policy` and `decode_binding`; more about them is behind the door
`celadon.admission.registration`.
"""

from celadon.admission.cluster_lookups import ObjectWorld, World, implicit_namespace
from celadon.admission.compiled_expressions import ExpressionMemory
from celadon.admission.conversion import ConversionError, convert
from celadon.admission.decision_source import Source
from celadon.admission.policies.compiled_policy import PolicyFrame
from celadon.admission.policies.matching import PolicyEngine, is_exempt
from celadon.admission.policies.typecheck import TypeChecker
from celadon.admission.policies.validating import Engine, Observer
from celadon.admission.registration.decoding import decode_binding, decode_policy
from celadon.admission.registration.registration_types import (
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
)
from celadon.admission.request import ADMIN, Operation, Request, default_options
from celadon.admission.verdict import (
    VALIDATION_FAILURE,
    Action,
    Cause,
    Decision,
    Note,
    Outcome,
    RecordedWarning,
    Verdict,
    recorded_warnings,
)

__all__ = [
    "ADMIN",
    "VALIDATION_FAILURE",
    "Action",
    "Cause",
    "ConversionError",
    "Decision",
    "Engine",
    "ExpressionMemory",
    "Note",
    "ObjectWorld",
    "Observer",
    "Operation",
    "Outcome",
    "PolicyEngine",
    "PolicyFrame",
    "RecordedWarning",
    "Request",
    "Source",
    "TypeChecker",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "Verdict",
    "World",
    "convert",
    "decode_binding",
    "decode_policy",
    "default_options",
    "implicit_namespace",
    "is_exempt",
    "recorded_warnings",
]
