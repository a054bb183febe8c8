"""The admission room: a request and a world in, a verdict out.

    engine = Engine(policies, bindings)
    engine.review(Request(...), ObjectWorld(objects)).allowed

Pure: whatever the engine has to look up arrives through the `World` it is given. Read first:
`engine` (which policies look at a request, in which order), `policy.evaluate` (one policy, one
binding, one param), `verdict` (what comes out). Policies come in as JSON: `decode_policy` gives the
frozen form with defaults, `validate_policy` every complaint the API server would have. For the six
registration kinds together: `decode_object`, `validate_create`, `validate_update`, and for a server
that stores them `read_body` and the module `strategy`.
"""

from celadon.admission.engine import Engine
from celadon.admission.policy.typecheck import TypeChecker
from celadon.admission.registration import strategy
from celadon.admission.registration.bindings import validate_binding
from celadon.admission.registration.bodies import Body, read_body, require_version
from celadon.admission.registration.decode import (
    RegistrationError,
    converted,
    decode_binding,
    decode_object,
    decode_policy,
)
from celadon.admission.registration.kinds import KINDS as REGISTRATION_KINDS
from celadon.admission.registration.kinds import RegistrationKind
from celadon.admission.registration.object_meta import validate_object_meta
from celadon.admission.registration.types import (
    MatchResources,
    MutatingAdmissionPolicy,
    MutatingAdmissionPolicyBinding,
    RegistrationObject,
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
    WebhookConfiguration,
)
from celadon.admission.registration.validating_policy import validate_policy
from celadon.admission.registration.validation import validate_create, validate_update
from celadon.admission.request import ADMIN, Operation, Request, default_options
from celadon.admission.verdict import Action, Cause, Decision, Note, Outcome, Verdict
from celadon.admission.world import ObjectWorld, World

__all__ = [
    "ADMIN",
    "REGISTRATION_KINDS",
    "Action",
    "Body",
    "Cause",
    "Decision",
    "Engine",
    "MatchResources",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
    "Note",
    "ObjectWorld",
    "Operation",
    "Outcome",
    "RegistrationError",
    "RegistrationKind",
    "RegistrationObject",
    "Request",
    "TypeChecker",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "Verdict",
    "WebhookConfiguration",
    "World",
    "converted",
    "decode_binding",
    "decode_object",
    "decode_policy",
    "default_options",
    "read_body",
    "require_version",
    "strategy",
    "validate_binding",
    "validate_create",
    "validate_object_meta",
    "validate_policy",
    "validate_update",
]
