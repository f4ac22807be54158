"""What an audit found."""

from shortlist.audit.findings import Verdict


def broken(findings):
    """The claims that are broken."""
    return {f.claim for f in findings if f.verdict is Verdict.BROKEN}
