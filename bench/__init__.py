"""Benchmarks: `python -m bench --help`. They read private data and time things; no test does.

A room for each thing that is measured, `accuracy`, `speed` and `privacy`, and `reproduction`, which
has the figures of a paper. Each names its parts of the command in `PARTS`; what they share is in
`common`, and what they found in `results`.
"""
