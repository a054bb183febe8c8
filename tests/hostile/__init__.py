"""Inputs that mean harm, and what each may cost: `python -m tests.hostile`.

`corpus` has them all, as generators by what they attack; `confinement` runs one in a process of its
own, with limits; `mutated_inputs` damages ordinary inputs at random.
"""
