"""Costs that know their stages come back from a file as they were, and nothing else for them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import shortlist as sl
from helpers.releases import GUARANTEE, release
from shortlist.errors import InputError
from shortlist.mechanisms import (
    AdaptiveTopK,
    DiscoverThenRank,
    JointOrPeel,
    LimitedDomain,
    Peeling,
    PolicyGaussian,
    UserPeeling,
    WeightedGaussian,
)
from shortlist.privacy import Composed, Pure
from shortlist.privacy.stored import cost_from, stored

GIVEN = {"k": 20, "epsilon": 1.0, "delta": 1e-6, "max_items_per_user": 10}
KINDS = [
    AdaptiveTopK,
    DiscoverThenRank,
    JointOrPeel,
    LimitedDomain,
    Peeling,
    PolicyGaussian,
    UserPeeling,
    WeightedGaussian,
]


def cost_of(kind):
    return kind(**{name: GIVEN[name] for name in kind.fields() if name in GIVEN}).cost


COSTS = {kind.__name__: cost_of(kind) for kind in KINDS}
COSTS["ways"] = COSTS["Peeling"] + COSTS["WeightedGaussian"]
COSTS["sum of ways"] = COSTS["ways"] + Pure(0.1)
OF_0_2 = json.loads(Path(__file__).with_name("costs_of_0_2.json").read_text())
each = pytest.mark.parametrize("name", COSTS)


def released(cost):
    guarantee = replace(GUARANTEE, cost=cost, epsilon=3.0, delta=3e-6)
    return release(["a"], scores=False, guarantee=guarantee)


@each
@pytest.mark.parametrize("suffix", [".json", ".parquet"])
def test_a_release_comes_back_with_its_cost(tmp_path, name, suffix):
    answer = released(COSTS[name])
    answer.save(tmp_path / f"answer{suffix}")
    loaded = sl.load(tmp_path / f"answer{suffix}")
    assert loaded == answer
    cost = loaded.guarantee.cost
    assert cost == COSTS[name]
    assert hash(cost) == hash(COSTS[name])
    assert type(cost) is type(COSTS[name])
    assert cost.delta(1.0) == COSTS[name].delta(1.0)
    assert (cost + Pure(0.1)) == COSTS[name] + Pure(0.1)


@each
def test_what_is_stored_is_plain_and_comes_back(name):
    told = json.loads(json.dumps(stored(COSTS[name]), allow_nan=False))
    assert cost_from(**told) == COSTS[name]
    assert stored(cost_from(**told)) == stored(COSTS[name])


@pytest.mark.parametrize("written", OF_0_2, ids=[written["what"] for written in OF_0_2])
def test_what_0_2_wrote_is_read_for_good(written):
    cost = cost_from(**written["cost"])
    assert cost.delta(1.0) == written["delta"]
    assert stored(cost) == written["cost"]


def picks(told):
    return told["composition"]["stages"][0]


CHANGES = {
    "no stage": lambda told: told["composition"].update(stages=[{"stage": "os.system"}]),
    "a stage without a name": lambda told: picks(told).pop("stage"),
    "a range below 0": lambda told: picks(told).update(epsilon=-0.1),
    "a range that is no number": lambda told: picks(told).update(epsilon="0.1"),
    "no picks": lambda told: picks(told).update(times=0),
    "picks that are no number": lambda told: picks(told).update(times="many"),
    "half a pick": lambda told: picks(told).update(times=1.5),
    "more of a stage": lambda told: picks(told).update(more=1),
    "no composition": lambda told: told.pop("composition"),
    "a number for a composition": lambda told: told.update(composition=5),
    "a stage for a composition": lambda told: told.update(composition=picks(told)),
    "a number for a stage": lambda told: told["composition"].update(stages=[1.0]),
    "a number for stages": lambda told: told["composition"].update(stages=1.0),
    "something lost that is none": lambda told: told["composition"].update(unnamed=1e-7),
    "no way in zCDP": lambda told: told.pop("by_rho"),
    "an unknown way in zCDP": lambda told: told["by_rho"].update(name="Free"),
    "an epsilon below 0": lambda told: told.update(epsilon=-1.0),
    "an epsilon that is no number": lambda told: told.update(epsilon="1"),
    "more": lambda told: told.update(more=1.0),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_file_is_refused(tmp_path, change):
    file = tmp_path / "x.json"
    whole = released(COSTS["Peeling"]).to_dict()
    file.write_text(json.dumps(whole))
    assert isinstance(sl.load(file).guarantee.cost, Composed)
    CHANGES[change](whole["guarantee"]["cost"]["parameters"])
    file.write_text(json.dumps(whole))
    with pytest.raises(InputError, match=r"^cannot load '"):
        sl.load(file)
