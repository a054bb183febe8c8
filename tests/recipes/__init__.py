"""Each recipe of docs/recipes.md is performed in a copy of the repository; its effect is seen.

`copied` is the copy; the test modules perform the recipes.
"""
