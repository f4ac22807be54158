"""What an answer of a mechanism tells, as each instrument of the audit knows it."""
