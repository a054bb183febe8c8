"""All combinations of what a policy reads: searches that say what they have been through.

`read_inputs` finds what an expression reads, `policy_inputs` which expressions an alteration has to
do with, `input_values` what is tried, `input_combinations` makes the requests.
"""
