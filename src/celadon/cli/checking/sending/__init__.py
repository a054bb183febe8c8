"""A document as it is sent: `endpoints` (where to), `field_validation` (what gets lost of it)."""
