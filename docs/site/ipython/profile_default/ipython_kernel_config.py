"""The kernel that runs the notebooks."""

c.Application.log_level = 40  # that it speaks to this machine alone, over TCP, is known
