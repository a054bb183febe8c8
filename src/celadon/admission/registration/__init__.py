"""The resources of `admissionregistration.k8s.io`: their types, decoding, defaults, validation.

Read `types`, then `decode`. `validation` says everything that is wrong with an object, with the
help of `object_meta` and `rules`; `param_access` whether its writer may refer to its params.
"""
