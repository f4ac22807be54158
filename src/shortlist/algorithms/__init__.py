"""What is exact and private to no one: counting lists, walks, policies, tables read in part."""
