"""How calls of the functions that policies use most are written in Python source, by subject.

Each `Inline` here stands in the records of the overloads it serves; `native_forms` has what they
share.
"""
