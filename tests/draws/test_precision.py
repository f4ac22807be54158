"""Flint's precision is one number for the whole process: nobody finds it changed."""

import ast
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from flint import arb, ctx

import shortlist as sl
from shortlist.algorithms.thinning import BinomialWeights
from shortlist.audit.exact._order_laws import order_law
from shortlist.audit.exact.enumerator import law, law_in_balls
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws, Order
from shortlist.draws.noise import Laplace, Normal, Radius, UniformNoise
from shortlist.draws.reals import Decay, ExponentialWeights
from shortlist.draws.uniform import Uniform, UniformProduct, precision, settle
from shortlist.evidence import PublicCounts
from shortlist.mechanisms import Gamma, Joint, JointOrPeel, OneShotLaplace, Peeling

OWN = 77  # a precision that nothing here asks for
SCORES = np.array([5, 4, 4, 0])


@pytest.fixture(autouse=True)
def own_precision():
    with ctx.workprec(OWN):
        yield
        assert ctx.prec == OWN


def slow(seed):
    return ExactDraws(SeededBits(seed), margin=np.inf)


def ordered(draws, noises, **options):
    return draws.order(Order(SCORES, noises, digits=2, unit=1.0, **options))


COUNTS = PublicCounts(np.array([9, 7, 7, 2, 0]), None)
TOUCH = {
    "coin": lambda draws: draws.coin(Decay(np.arange(5), 0.3)),
    "choice": lambda draws: draws.choice(ExponentialWeights(SCORES, np.ones(4), 0.5)),
    "flip": lambda draws: draws.permute_and_flip(ExponentialWeights(SCORES, np.ones(4), 0.5)),
    "binomial": lambda draws: BinomialWeights(40, 1, 3).draw(draws),
    "normal": lambda draws: ordered(draws, [Normal(2.0)]),
    "laplace": lambda draws: ordered(draws, [Laplace(2.0), Normal(1.0)]),
    "radius": lambda draws: ordered(draws, [UniformNoise()], radius=Radius(5, 1.0)),
    "at least": lambda draws: ordered(draws, [Laplace(2.0)], at_least=np.array([3, 3, 3, 3])),
    "joint": lambda draws: Joint(k=2, epsilon=1.0).select(COUNTS, draws),
    "either": lambda draws: JointOrPeel(k=2, epsilon=1.0).select(COUNTS, draws),
    "peeling": lambda draws: Peeling(k=2, epsilon=1.0).select(COUNTS, draws),
    "one shot": lambda draws: OneShotLaplace(k=2, epsilon=1.0).select(COUNTS, draws),
    "gamma": lambda draws: Gamma(k=2, epsilon=1.0).select(COUNTS, draws),
}


@pytest.mark.parametrize("what", TOUCH)
def test_a_draw_gives_the_precision_back(what):
    TOUCH[what](slow(3))
    assert ctx.prec == OWN


@pytest.mark.parametrize("what", TOUCH)
def test_a_draw_that_fails_gives_it_back(what, monkeypatch):
    balls = []

    def fail(*_, **__):
        balls.append(ctx.prec)
        raise ZeroDivisionError

    for kind in (Uniform, UniformProduct):
        monkeypatch.setattr(kind, "ball", fail)
    with pytest.raises(ZeroDivisionError):
        TOUCH[what](slow(3))
    assert balls[0] > OWN
    assert ctx.prec == OWN


def test_the_audit_gives_it_back():
    def fail(draws):
        draws.coin(Decay(np.arange(2), 0.3))
        raise ZeroDivisionError

    law(lambda draws: int(draws.choice(Decay(np.arange(2), 0.3))))
    order_law(Order(np.array([1, 0]), [Normal(1.0)]))
    assert ctx.prec == OWN
    with pytest.raises(ZeroDivisionError):
        law_in_balls(fail)
    assert ctx.prec == OWN
    assert sl.audit.run(Peeling, quick=True).holds
    assert ctx.prec == OWN


def in_threads(*actions):
    with ThreadPoolExecutor(len(actions)) as pool:
        return [done.result(600) for done in [pool.submit(action) for action in actions]]


@pytest.mark.parametrize("bits", [(192, 768), (768, 192)])
def test_two_threads_do_not_meet_in_the_slow_path(bits):
    """The first looks when the second would be inside, and the second when the first has left."""
    began, entered, left = (threading.Event() for _ in range(3))
    found = {}

    def first():
        with precision(bits[0]):
            began.set()
            entered.wait(0.3)
            found["first"] = ctx.prec
        left.set()

    def second():
        began.wait(300)
        with precision(bits[1]):
            entered.set()
            left.wait(300)
            found["second"] = ctx.prec

    in_threads(first, second)
    assert found == {"first": bits[0], "second": bits[1]}
    assert ctx.prec == OWN


def test_two_threads_settle_each_at_its_own_precision():
    """As above, of the decisions themselves."""
    began, entered, left = (threading.Event() for _ in range(3))
    found = {}

    def first():
        def decide():
            began.set()
            entered.wait(0.3)
            found["first"] = ctx.prec
            return True

        settle([Uniform(SeededBits(1), 7)], decide)
        left.set()

    def second():
        number = Uniform(SeededBits(2), 7)
        for _ in range(5):
            number.fetch()

        def decide():
            entered.set()
            left.wait(300)
            found["second"] = ctx.prec
            return True

        began.wait(300)
        settle([number], decide)

    in_threads(first, second)
    assert found == {"first": 64 + 128, "second": 6 * 64 + 128}
    assert ctx.prec == OWN


def test_questions_in_threads_are_answered_as_alone():
    def ask(seed):
        def asked():
            return [repr(touch(slow(seed))) for touch in TOUCH.values()]

        return asked

    alone = [ask(seed)() for seed in range(4)]
    assert in_threads(*map(ask, range(4))) == alone
    assert ctx.prec == OWN


def test_a_ball_is_of_one_precision(monkeypatch):
    """Another thread's flint may change it at any time: what is known is known by what was read."""
    weights, read = BinomialWeights(40, 1, 3), []

    class Restless:
        @property
        def prec(self):
            read.append(None)
            return 100 + len(read)

    monkeypatch.setattr("flint.ctx", Restless())
    assert 1 in weights.ball(weights._mode - weights._low)
    assert len(read) == 1
    assert list(weights._known) == [101]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_waits_for_the_slow_path():
    """A child begins with the caller's precision, and with no lock that nobody opens."""
    began, go = threading.Event(), threading.Event()

    def busy():
        with precision(500):
            began.set()
            go.wait(0.3)

    thread = threading.Thread(target=busy)
    thread.start()
    began.wait(300)
    child = os.fork()
    if child == 0:
        signal.alarm(300)
        right = ctx.prec == OWN
        with precision(300):
            right = right and ctx.prec == 300
        os._exit(0 if right else 1)
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
    assert ctx.prec == OWN


def test_a_thread_may_fork_in_the_middle():
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")
    with precision(300):
        child = os.fork()
        if child == 0:
            signal.alarm(300)
            with precision(200):
                os._exit(0 if ctx.prec == 200 else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert ctx.prec == 300


def test_nothing_else_sets_it():
    root = Path(sl.__file__).parent
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and path.name != "uniform.py":
                assert node.attr not in {"workprec", "extraprec", "workdps", "extradps", "dps"}
                assert not (node.attr == "prec" and isinstance(node.ctx, ast.Store))


def test_balls_are_of_the_precision_asked_for():
    with precision(400):
        assert (arb(1) / 3).rel_accuracy_bits() > 390
    assert (arb(1) / 3).rel_accuracy_bits() < 2 * OWN
