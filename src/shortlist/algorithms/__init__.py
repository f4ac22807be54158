"""What is exact and private to no one: counting sequences, walks, policies, lists read in part."""
