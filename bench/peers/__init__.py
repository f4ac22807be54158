"""The same questions by other libraries: each file is for an interpreter that has its library."""
