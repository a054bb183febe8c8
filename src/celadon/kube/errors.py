"""The exceptions of this room. They say that a caller gave something that cannot be what it should.

    KubeError
      StatusError               status               what an API server answers, with its Status
        NotConverted              writes               a mutation has made something else of it
        Unroutable                status               before anything is known of the resource
        Unversioned               writes               a patch has taken its version
      MalformedText             here                 a text that is not what it should be
        AnnotationError           validation.annotated fields that are JSON in an annotation
        ApiVersionError           names                `apps/v1`
        BadFeatureGates           resources            `--feature-gates`
        Base64Error               go.go_base64
        DerError                  warnings             ASN.1 of keys and certificates
        DurationError             go.go_duration       `1h30m`
        EntryError                apply                of `managedFields`
        FieldPathError            custom               `.spec.size`, of a rule or a selectable field
        FieldSetError             apply                FieldsV1
        IndexesError              validation.workloads `0-3,7`, of a Job
        JSONPathError             jsonpath             `{.spec.host}`
        JsonSyntaxError           go.go_json_scanner   a document
        KeyFault                  warnings             a certificate and a key
        QuantityError             quantities           `500m`
        RequestFault              certificate_requests a request for a certificate
        ScheduleError             validation.workloads `*/5 * * * *`
        SelectorError             selection            `app in (a, b)`
        SemverError               semver               `1.2.3`
        TimeError                 go.go_time           `2024-01-02T03:04:05Z`
        Uninterpretable           writes               a body that does not say what it is
        UnusablePlugins           catalogue            names of admission plugins
        URLError                  go.go_url
        VersionError              library              `1.36`
      ConflictError             apply                a configuration that changes what others own
      DecodeError               schemas              an object that does not fit its type
      ItemError                 apply                an item that nothing identifies
      Mismatch                  schemas              the same, before it is known where
        ReadMismatch              schemas              of what a type of Go reads by itself
      MutationRefused           apply                a change of a policy's that cannot be made
      MergeError                writes               a strategic merge patch that is malformed
      JsonPatchError            writes               a patch that is malformed, or cannot be applied
        JsonPatchTestFailed       writes               its `test` operation failed
      ProtobufError             protobuf             bytes or an object that cannot be converted
        NoMessageError            protobuf             a kind that has no message
      TooLongError              go.go_values         more to compare than may be
      Inexact                   schemas              an unknown field, or what is not kept
      Unplanned                 apply                an object that has to be merged the long way
      UnshownVersion            apply                an object in a version that does not know it
      Unusual                   apply                a configuration that is looked at more closely

`str()` of each is the text that Go, or an API server, has for it. Errors in objects and options are
no exceptions but `fieldpath.FieldError` values; those of CEL expressions are `celadon.cel`'s.
"""

from __future__ import annotations


class KubeError(Exception):
    """Any exception of this room; what else comes out of it is a bug."""


class MalformedText(KubeError, ValueError):
    """A text that cannot be read; its subclasses say as what."""
