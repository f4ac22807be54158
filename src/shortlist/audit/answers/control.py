"""What the audit raises through the code that it runs."""

__all__ = ["Control"]


class Control(BaseException):  # no error, so that no code that is run catches it by chance
    """A run of the code ends here, by the audit's own will and not the code's."""
