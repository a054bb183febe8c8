"""What can be known about a checked tree before it runs.

`folding` computes constant parts, `estimator` and `cost_bound` say what an evaluation may cost,
`attribute_chains` and `comprehension_shapes` recognise forms that run faster written in one go,
`tree_context` holds it all for the generators.
"""
