"""A `Report` as text: for people, for programs, for GitHub's annotations, for JUnit readers."""
