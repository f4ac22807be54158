"""The version of the library, from which the package takes its own."""

__version__ = "0.2.0"  # to ask the installed package would take 2 % of a short command
