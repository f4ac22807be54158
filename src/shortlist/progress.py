"""What a question is doing, for whoever waits for the answer.

>>> with listening(print):
...     with phase("Selecting"), phase("round {n} of {rounds}", n=2, rounds=4):
...         pass
Selecting
Selecting, round 2 of 4
Selecting
"""

from shortlist.runtime.phases import Listener, listening, phase

__all__ = ["Listener", "listening", "phase"]
