"""The exact instrument: output laws of the code as it runs, enumerated."""
