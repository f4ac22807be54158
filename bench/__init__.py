"""Benchmarks: `python -m bench --help`. They read private data and time things; no test does."""
