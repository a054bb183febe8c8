"""What `celadon init` writes: the files of a first project, as data, and how they get there."""
