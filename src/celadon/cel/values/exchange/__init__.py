"""Values from outside and back: Python objects as CEL values, and values as CEL text."""
