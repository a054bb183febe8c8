"""The walls of the house: where a module may stand, whom it may import, what it may contain.

`source_tree` reads the package, `rooms` is the plan (rooms, doors), and each test module holds one
concept. Every excuse in here has its reason; a list of excuses may shrink freely (a test fails on
one that is no longer needed) and grows only with a reason a reader will accept.
"""
