"""Sources: sensitive data with its privacy unit; their methods are the questions."""
