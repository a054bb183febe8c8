"""The function libraries that Kubernetes adds to CEL, one module each.

`value_types` names their types, `signatures` is the short way to declare a function, `costs` is
what Kubernetes charges for calls (its own and some of the language's). Each other module ends in
`LIBRARY`; `kube.versions` says which release has which. What the functions do is mostly not here:
the rules of Go's packages are in `kube.url`, `kube.semver`, `kube.quantity` and (addresses)
`cel.values.netaddr`.
"""
