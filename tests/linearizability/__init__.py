"""Whether what clients saw of a store can have happened one thing after the other.

`histories` records what concurrent clients ask and are told, `checker` looks for an order that
explains it, as Porcupine does, `broken_stores` are wrong in ways that it must find.
"""
