"""How one mistake is put into the shipped code for a while, and taken out again."""

import contextlib
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, wraps

import shortlist

NAMES = "shortlist."


@dataclass(frozen=True)
class Plant:
    """One mistake.

    Attributes:
        name: The mistake in plain words.
        plant: Puts it into the code, by a `Patches`.
        mechanisms: The kebab-case names of mechanisms and wrappers in which it shows.
        cases: The names of cases, see `cases.CASES`, in which something is asked, drawn or charged
            differently; the mechanisms themselves, if none is given.
    """

    name: str
    plant: Callable[["Patches"], None] = field(repr=False)
    mechanisms: tuple[str, ...]
    cases: tuple[str, ...] = ()

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
    """Changes of the shipped code that can be undone.

    What is wrong is called with what is right, and then as that is: `wrong(right, *args)`.

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

    def at(self, module, name, wrong):
        """A function, as one module knows it."""
        self._set(module, name, self._counted(getattr(module, name), wrong))

    def everywhere(self, module, name, wrong):
        """A function of a module, wherever it was imported to."""
        right = getattr(module, name)
        put_in = self._counted(right, wrong)
        for known in list(sys.modules.values()):
            if getattr(known, "__name__", "").startswith(NAMES[:-1]):
                for held, value in list(vars(known).items()):
                    if value is right:
                        self._set(known, held, put_in)

    def number(self, owner, name, value):
        """A constant of a module or class, which whoever reads it reaches."""
        self._set(owner, name, value)
        self.reached.times += 1

    def method(self, cls, name, wrong):
        """A method or property of a class; a cached one stays cached."""
        right = inspect.getattr_static(cls, name)  # its own, or that of a class it derives from
        if isinstance(right, cached_property):
            put_in = cached_property(self._counted(right.func, wrong))
            put_in.__set_name__(cls, name)
        elif isinstance(right, property):
            put_in = property(self._counted(right.fget, wrong))
        elif isinstance(right, classmethod):
            put_in = classmethod(self._counted(right.__func__, wrong))
        else:
            put_in = self._counted(right, wrong)
        self._set(cls, name, put_in)

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

    def _counted(self, right, wrong):
        @wraps(right)
        def counted(*args, **kwargs):
            self.reached.times += 1
            return wrong(right, *args, **kwargs)

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


# --- what is patched


def at(module, name, wrong):
    """A function, as one module knows it."""
    return lambda patches: patches.at(module, name, wrong)


def everywhere(module, name, wrong):
    """A function of a module, wherever it was imported to."""
    return lambda patches: patches.everywhere(module, name, wrong)


def method(cls, name, wrong):
    """A method or property of a class."""
    return lambda patches: patches.method(cls, name, wrong)


def number(owner, name, value):
    """A constant of a module or class."""
    return lambda patches: patches.number(owner, name, value)


def together(*plants):
    """One mistake in several places."""

    def plant(patches):
        for each in plants:
            each(patches)

    return plant


# --- how it is wrong


def result(change):
    """What it returns is changed."""
    return lambda right, *args, **kwargs: change(right(*args, **kwargs))


def times(factor):
    """What it returns is larger or smaller by a factor."""
    return result(lambda number: number * factor)


def always(value):
    """It returns the same whatever it is asked."""
    return lambda _right, *_args, **_kwargs: value


def argument(place, change):
    """It is asked with another argument; the place 0 of a method is that of its object."""

    def wrong(right, *args):
        return right(*args[:place], change(args[place]), *args[place + 1 :])

    return wrong


def argument_times(place, factor):
    """One of its arguments is larger or smaller by a factor."""
    return argument(place, lambda number: factor * number)


def with_field(name, change):
    """Its object has another value of a field."""
    return argument(0, lambda it: replace(it, **{name: change(getattr(it, name))}))


# --- who shows it


def mistakes(mechanisms, cases, by_name):
    """Mistakes that show in the same mechanisms, and in the same cases of them."""
    return [Plant(name, plant, _all(mechanisms), _all(cases)) for name, plant in by_name.items()]


def _all(names):
    return (names,) if isinstance(names, str) else tuple(names)
