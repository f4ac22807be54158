"""The audit by transcript: what code asks of its draws, beside what its cost claims for that."""
