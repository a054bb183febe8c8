"""Inputs that mean harm, and what each may cost: `python -m tests.hostile`.

`corpus` has them all, as generators by what they attack; `confinement` runs one in a process of its
own, with limits; `mutated_inputs` damages ordinary inputs at random.

A new one is a line in the module of its kind: a name, what makes its content, and the exit codes
that are an answer. Why the bounds are what they are: see docs/decisions/0022-bounded-work.md.
"""
