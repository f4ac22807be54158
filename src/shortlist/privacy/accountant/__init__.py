"""The exact worst case of a whole mechanism: the delta that its stages leave together."""

from shortlist.privacy.accountant.after_choice import AfterChoice
from shortlist.privacy.accountant.composition import Composition
from shortlist.privacy.accountant.cost_of_rounds import ItemsInRounds
from shortlist.privacy.accountant.items_of_one_user import (
    ItemsByThreshold,
    Threshold,
    ThresholdDelta,
)
from shortlist.privacy.accountant.stages import (
    BoundedRange,
    EitherStage,
    GaussianStage,
    LossStage,
    OwnItemsStage,
    PureStage,
    Stage,
    Stages,
)

__all__ = [
    "AfterChoice",
    "BoundedRange",
    "Composition",
    "EitherStage",
    "GaussianStage",
    "ItemsByThreshold",
    "ItemsInRounds",
    "LossStage",
    "OwnItemsStage",
    "PureStage",
    "Stage",
    "Stages",
    "Threshold",
    "ThresholdDelta",
]
