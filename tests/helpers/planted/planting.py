"""How one mistake is put into the shipped code for a while, and taken out again."""

import contextlib
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property, wraps

import shortlist

NAMES = "shortlist."


@dataclass(frozen=True)
class Plant:
    """One mistake.

    Attributes:
        name: The mistake in plain words.
        room: Where it is: a room of the package, or a module.
        mechanisms: The kebab-case names of mechanisms and wrappers in which it shows.
        plant: Puts it into the code, by a `Patches`.
        cases: The names of cases, see `cases.CASES`, in which something is asked, drawn or charged
            differently; the mechanisms themselves, if none is given.
        old: Whether it is in what was there in version 0.1.
    """

    name: str
    room: str
    mechanisms: tuple[str, ...]
    plant: Callable[["Patches"], None] = field(repr=False)
    cases: tuple[str, ...] = ()
    old: bool = False

    @contextlib.contextmanager
    def apply(self):
        """The shipped code with this mistake; yields how often the wrong place was reached."""
        _load_all()
        forget()
        patches = Patches()
        try:
            self.plant(patches)
            yield patches.reached
        finally:
            patches.undo()
            forget()


@dataclass
class Reached:
    """How often wrong code ran."""

    times: int = 0


class Patches:
    """Changes of the shipped code that can be undone. A `make` turns what is right into the wrong.

    Attributes:
        reached: Counts the calls of what was put in.
    """

    def __init__(self):
        self.reached = Reached()
        self._undo = []

    def undo(self):
        """Take all out again, the last one first."""
        while self._undo:
            self._undo.pop()()

    def at(self, module, name, make):
        """A function, as one module knows it."""
        self._set(module, name, self._counted(make(getattr(module, name))))

    def everywhere(self, module, name, make):
        """A function of a module, wherever it was imported to."""
        right = getattr(module, name)
        wrong = self._counted(make(right))
        for known in list(sys.modules.values()):
            if getattr(known, "__name__", "").startswith(NAMES[:-1]):
                for held, value in list(vars(known).items()):
                    if value is right:
                        self._set(known, held, wrong)

    def number(self, module, name, value):
        """A constant of a module, which whoever reads it reaches."""
        self._set(module, name, value)
        self.reached.times += 1

    def method(self, cls, name, make):
        """A method or property of a class; a cached one stays cached."""
        right = inspect.getattr_static(cls, name)  # its own, or that of a class it derives from
        if isinstance(right, cached_property):
            wrong = cached_property(self._counted(make(right.func)))
            wrong.__set_name__(cls, name)
        elif isinstance(right, property):
            wrong = property(self._counted(make(right.fget)))
        else:
            wrong = self._counted(make(right))
        self._set(cls, name, wrong)

    def instead(self, right, wrong):
        """A subclass with the mistake: whatever is made of the class is of the subclass."""
        begin = right.__init__
        counts = self.reached

        def begins(self, *args, **kwargs):
            if type(self) is right and not _asked_by_helpers():
                object.__setattr__(self, "__class__", wrong)
                counts.times += 1
            begin(self, *args, **kwargs)

        self._set(right, "__init__", begins)

    def _set(self, owner, name, value):
        own = name in vars(owner)
        before = vars(owner).get(name)
        setattr(owner, name, value)
        self._undo.append(lambda: setattr(owner, name, before) if own else delattr(owner, name))

    def _counted(self, wrong):
        if isinstance(wrong, classmethod):
            return classmethod(self._counted(wrong.__func__))
        counts = self.reached

        @wraps(wrong)
        def counted(*args, **kwargs):
            counts.times += 1
            return wrong(*args, **kwargs)

        return counted


def _asked_by_helpers():
    """Whether wrong code makes something right, to change it."""
    frame = sys._getframe(2)
    while frame is not None:
        if "/helpers/wrong_" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


def forget():
    """Empty all caches of functions and methods of the package."""
    for function in _remembering():
        function.cache_clear()


@cache
def _remembering():
    """All functions of the package that remember, methods included."""
    _load_all()
    found = {}
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith(NAMES):
            values = list(vars(module).values())
            classes = [v for v in values if isinstance(v, type) and v.__module__.startswith(NAMES)]
            values += [inner for cls in classes for inner in vars(cls).values()]
            found |= {id(v): v for v in values if callable(getattr(v, "cache_clear", None))}
    return list(found.values())


@cache
def _load_all():
    """All modules that a patch may be in: one that is loaded later would keep what is wrong."""
    rooms = "mechanisms", "privacy", "algorithms", "evidence", "kernels", "draws", "audit"
    for room in rooms:
        package = importlib.import_module(NAMES + room)
        for module in pkgutil.walk_packages(package.__path__, f"{NAMES}{room}."):
            importlib.import_module(module.name)
    importlib.import_module(shortlist.__name__)


def times(factor):
    """What makes a function's number larger or smaller by a factor."""

    def make(right):
        return lambda *args, **kwargs: right(*args, **kwargs) * factor

    return make


def always(value):
    """What makes a function say the same whatever it is asked."""

    def make(_right):
        return lambda *_args, **_kwargs: value

    return make
