"""What `celadon test` found, as text: for people, for programs, for those who run builds."""
