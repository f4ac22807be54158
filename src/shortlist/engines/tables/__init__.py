"""What an engine answers of users' sets where the rows lie: group-bys over temporary tables.

What is asked of an engine is in `_sets_in_table.py`, `_groups_in_table.py` and `_steering.py`: one
plan for all. How each kind of engine is opened and spoken to is in a file of its own, and
`_dialect.py` lists what there is to say. `which_engine.py` finds out which kind a table is of.
"""
