"""Exact draws: from random bits to decisions that no rounding touches."""
