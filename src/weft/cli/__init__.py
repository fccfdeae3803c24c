"""The command line: one file per command group; it parses, calls and prints.

In     the arguments of one invocation.
Out    text on stdout (one JSON document with ``--json``), at most one line per error on stderr, and an exit code.
Never  logic; and no import of a heavy library at the top of a group's file, so that ``weft --help`` stays quick.

Glossary
    group      a file with ``app = typer.Typer(...)``, added to ``main.app`` by one line
    lacking    this machine has not got what a command needs; the error says what to install
"""
