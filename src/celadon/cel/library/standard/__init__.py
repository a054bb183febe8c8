"""The standard library, which every environment has: operators, conversions, parts of times.

Read `standard_library`, which puts the others together; `standard_costs` has the costs that are not
simply 1.
"""
