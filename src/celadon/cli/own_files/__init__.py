"""Documents of kinds that are Celadon's own: what is wrong with one, and where it stands."""
