"""Databases: their URLs, how they are connected to, and what their errors become.

What is asked of them is said where it is needed: by stores, by budgets, and by the dialects of
engines.
"""
