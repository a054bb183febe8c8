"""Completion in shells: what can stand where (`command_words`), and a script for each shell.

The words are read from the parsers of the commands, so that no script has to be kept. A metavar
says what kind of value an option takes: FILE is a file wherever it stands.
"""
