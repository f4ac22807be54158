"""The version of the library, which the package's own description is built from."""

__version__ = "0.2.0"  # to ask the installed package would take 2 % of a short command
