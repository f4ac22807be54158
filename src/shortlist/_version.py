"""The version of the library as it is installed."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("shortlist")
except PackageNotFoundError:  # run from its source: saving a release must not fail for that
    __version__ = "unknown"
