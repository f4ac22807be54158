"""The statistical instrument: the code as it runs, sampled a million times."""
