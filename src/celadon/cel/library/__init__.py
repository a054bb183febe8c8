"""The function libraries of the language, one module each.

A module ends in its constant `LIBRARY`, or in `library(version)` where the library has versions;
`comprehensions` has a second one, `bindings(version)`.
What stands there is all that the compiler knows of a function: see `celadon.cel.declarations`.
`standard` is what every environment has; its operators, conversions and time functions live in
modules of their own. The others are given to an environment by whoever builds one: see
`celadon.cel.extend`.
"""
