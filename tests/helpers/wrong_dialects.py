"""Engines of others, planted: sampling anew, hashing without a key, or by who else is there."""

import itertools

from shortlist.engines.tables import _duckdb as duckdb_dialect
from shortlist.engines.tables._expressions import call


class WithoutKey(duckdb_dialect.DuckDB):
    """The same rows are dropped in every release."""

    def hashed(self, _, user, items):
        return super().hashed((1, 2), user, items)


class Sampling(duckdb_dialect.DuckDB):
    """Who runs a query again draws anew: nothing is worked out once."""

    _draws = itertools.count(1)

    def hashed(self, _, user, items):
        known = call("hash", "uint64", user, *items)
        return call("hash", "uint64", call("xor", "uint64", known, call("drawn", "uint64")))

    def fetch(self, query):
        self._run(f"CREATE OR REPLACE TEMP MACRO drawn() AS {next(self._draws)}::UBIGINT")
        return super().fetch(query)

    def keep(self, name, query, _=None):
        self._run(f'CREATE TEMP VIEW "{name}" AS {self.sql(query)}')

    def drop(self, _):
        """Views are read by others."""


class Neighbourly(duckdb_dialect.DuckDB):
    """Users are hashed by their numbers, which depend on who else there is."""

    def hashed(self, key, _, items):
        named = items[0].op().rel.to_expr()
        return super().hashed(key, named["u"], items)


class AfterTheHash(duckdb_dialect.DuckDB):
    """The key enters last."""

    def hashed(self, key, user, items):
        import ibis

        known = call("hash", "uint64", user, *items)
        return call("xor", "uint64", known, ibis.literal(key[0] * 4, type="uint64"))
