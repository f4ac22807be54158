"""What mechanisms do beside their answer: the audit looks there too, and always ends."""

import logging
import sys
import threading
import warnings

import pytest

import shortlist as sl
from helpers import wrong_outside as wrong
from helpers.audited import broken
from shortlist.audit import Verdict
from shortlist.audit.exact import enumerator
from shortlist.audit.exact.neighbouring_pairs import audit_exactly
from shortlist.audit.samples import _sampled_together
from shortlist.audit.samples.sampler import audit_by_samples
from shortlist.audit.visible_answers import listening
from shortlist.bits import SeededBits
from shortlist.kernels import compiling
from shortlist.mechanisms import Gamma, LimitedDomain, OneShotLaplace, Peeling
from shortlist.mechanisms.wrappers.noisy_counts import NoisyCounts

ONE = {"k": 1, "epsilon": 1.0}
FEW = [(5, 1), (4, 2), (0, 0)]

CAUGHT = [
    (wrong.Exits(**ONE), "raises SystemExit"),
    (wrong.Escapes(**ONE), "raises Strange"),
    (wrong.TellsLater(**ONE), "tells a table later"),
    (wrong.ExplainsLater(**ONE), "tells a table later"),
    (wrong.Warns(**ONE), "warns"),
    (wrong.Prints(**ONE), "prints"),
    (wrong.Logs(**ONE), "logs"),
]


@pytest.mark.parametrize(("mechanism", "claim"), CAUGHT, ids=[type(m).__name__ for m, _ in CAUGHT])
def test_both_instruments_catch(mechanism, claim, capfd):
    assert claim in broken(audit_exactly(mechanism, families=[FEW]))
    assert claim in broken(audit_by_samples(mechanism, bits=SeededBits(4), samples=100))
    assert capfd.readouterr() == ("", "")  # nothing is passed on


def test_a_right_mechanism_holds_on_these():
    assert {f.verdict for f in audit_exactly(Peeling(**ONE), families=[FEW])} == {Verdict.HOLDS}
    assert not broken(audit_by_samples(Peeling(**ONE), bits=SeededBits(4), samples=100))


@pytest.mark.parametrize("audit", [audit_exactly, audit_by_samples])
def test_an_interrupt_ends_the_audit(audit):
    with pytest.raises(KeyboardInterrupt):
        audit(wrong.Interrupts(**ONE), quick=True)


def test_what_other_threads_print_is_theirs(capsys):
    with listening() as said:
        thread = threading.Thread(target=lambda: sys.stderr.write("clock"))
        thread.start()
        thread.join()
    assert (said, capsys.readouterr().err) == ([], "clock")


def test_that_loops_are_compiled_is_passed_on_and_is_no_answer(capsys, monkeypatch):
    """As it happens in the first question after installing, whatever the data are."""
    monkeypatch.setattr(compiling._LOG, "handlers", [logging.lastResort])
    with listening() as said:
        compiling._LOG.warning("compiling loops")
    assert (said, capsys.readouterr().err) == ([], "compiling loops\n")


def test_what_was_listened_to_is_as_before():
    before = sys.stdout, sys.stderr, logging.Logger.handle, warnings.showwarning
    with listening():
        pass
    assert (sys.stdout, sys.stderr, logging.Logger.handle, warnings.showwarning) == before


# --- what a guarantee says, and what is asked for


def test_a_guarantee_says_what_is_spent():
    given = {**ONE, "delta": 0.02}
    assert "cost as delta" in broken(audit_exactly(wrong.SpentNothing(**given), families=[FEW]))
    assert not broken(audit_exactly(Peeling(**given), families=[FEW]))


def test_evidence_is_asked_for_as_bounded_as_it_is_accounted_for():
    given = {**ONE, "max_items_per_user": 1}
    looser = "asks for looser evidence"
    assert looser in broken(audit_exactly(wrong.AsksForAll(**given), families=[FEW]))
    assert not broken(audit_exactly(OneShotLaplace(**given), families=[FEW]))


def test_evidence_of_another_kind_is_not_asked_for():
    kind = type("OfOthers", (Peeling,), {"wants": LimitedDomain(**ONE, delta=0.1).wants})
    assert "asks for looser evidence" in broken(audit_exactly(kind(**ONE), families=[FEW]))


@pytest.mark.parametrize(("own", "expected"), [(None, None), (2, 2)])
def test_noisy_counts_ask_for_their_own_bound(own, expected):
    assert noisy(NoisyCounts, bound=own).wants.bound == expected


# --- told values


def noisy(kind, *, k=3, bound=None):
    def build(epsilon, delta):
        return Peeling(k=k, epsilon=epsilon, delta=delta)

    given = {"k": k, "epsilon": 2.0, "delta": 0.0, "count_share": 0.5}
    return kind.of(build, **given, max_items_per_user=bound)


def test_code_that_computes_with_told_values_is_undecided_and_the_run_goes_on():
    audit = sl.audit.run(wrong.SharedNoise, quick=True)
    undecided = [f for f in audit.findings if f.verdict is Verdict.UNDECIDED]
    assert {"epsilon", "delta", "rho"} <= {f.claim for f in undecided}
    assert all("by samples" in f.reason for f in undecided)
    assert "cost as delta" in {f.claim for f in audit.findings if f.verdict is Verdict.HOLDS}
    assert "audit it by samples" in " ".join(str(audit).split())


@pytest.mark.parametrize("kind", [wrong.SharedNoise, wrong.NoiseAgain])
def test_differences_of_told_values_show_noise_that_is_shared(kind):
    assert "epsilon" in broken(audit_by_samples(noisy(kind), bits=SeededBits(4), samples=1000))


def test_noise_of_its_own_shows_nothing():
    found = audit_by_samples(noisy(NoisyCounts), bits=SeededBits(4), samples=1000)
    assert not broken(found)


def test_noise_that_is_kept_ends_and_is_broken():
    wrong.KeepsNoise.kept.clear()
    mechanism = wrong.KeepsNoise(**ONE, max_items_per_user=1)
    found = audit_by_samples(mechanism, bits=SeededBits(4), samples=1000)
    assert "effect of earlier answers" in broken(found)


def test_code_that_draws_without_end_is_broken(monkeypatch):
    for instrument in (_sampled_together, enumerator):
        monkeypatch.setattr(instrument, "_MOST_DRAWS", 200)
    found = audit_by_samples(wrong.DrawsOn(**ONE), bits=SeededBits(4), samples=100)
    assert "draws without end" in broken(found)
    undecided = audit_exactly(wrong.DrawsOn(**ONE), families=[FEW])
    assert {f.verdict for f in undecided if f.reason} == {Verdict.UNDECIDED}


def test_gamma_is_as_it_was():  # its radius parts all samples
    assert not broken(audit_by_samples(Gamma(**ONE), bits=SeededBits(4), samples=100))
