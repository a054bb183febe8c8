"""The walls of the house: where a module may stand, whom it may import, what it may contain.

`rooms` is the plan: rooms, doors, limits and exceptions, all in one place. `source_tree` reads the
package once for all tests. Each test module holds one concept, each test lists all offenders.
"""
