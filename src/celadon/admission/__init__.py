"""The admission room: a request and a world in, a verdict out.

    engine = Engine(policies, bindings)
    engine.review(Request(...), ObjectWorld(objects)).allowed

Pure: whatever the engine has to look up arrives through the `World` it is given. Read first:
`engine` (which policies look at a request, in which order), `policy.evaluate` (one policy, one
binding, one param), `verdict` (what comes out). Policies come in as JSON: `decode_policy` gives the
frozen form with defaults, `validate_policy` every complaint the API server would have.
"""

from celadon.admission.engine import Engine
from celadon.admission.policy.typecheck import TypeChecker
from celadon.admission.registration.bindings import validate_binding
from celadon.admission.registration.decode import RegistrationError, decode_binding, decode_policy
from celadon.admission.registration.object_meta import validate_object_meta
from celadon.admission.registration.types import (
    MatchResources,
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
)
from celadon.admission.registration.validating_policy import validate_policy
from celadon.admission.request import ADMIN, Operation, Request, default_options
from celadon.admission.verdict import Action, Cause, Decision, Note, Outcome, Verdict
from celadon.admission.world import ObjectWorld, World

__all__ = [
    "ADMIN",
    "Action",
    "Cause",
    "Decision",
    "Engine",
    "MatchResources",
    "Note",
    "ObjectWorld",
    "Operation",
    "Outcome",
    "RegistrationError",
    "Request",
    "TypeChecker",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "Verdict",
    "World",
    "decode_binding",
    "decode_policy",
    "default_options",
    "validate_binding",
    "validate_object_meta",
    "validate_policy",
]
