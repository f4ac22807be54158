"""Mistakes planted in the shipped code, to see what notices them."""
