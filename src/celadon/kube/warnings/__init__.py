"""What an API server remarks about objects that it takes: the texts of `Warning` headers.

`kind_warnings` says all that is said of a new or changed object of a kind; read it first, then
`pod_warnings`, which has most to say. Objects are as they are validated: decoded, defaulted, with
what the server adds. The texts and conditions are upstream's, as k8s.io/kubernetes has them in
`pkg/api/*/warnings.go` and in the `WarningsOnCreate` and `WarningsOnUpdate` of its strategies.
"""

from celadon.kube.warnings.warned_kinds import kind_warnings, warnings_before

__all__ = ["kind_warnings", "warnings_before"]
