"""Compiled loops as machine code: loaded by LLVM alone, and called without Numba.

To load Numba takes a third of a short command, and what makes a loop callable from Python by
Numba is a tenth of all that is compiled. A loop over plain arrays needs neither.

A loop of Numba takes where to write what it returns, where to write what it raises, and its
arguments; of an array the owner, the object, size, size of an entry, address, shape and strides
(`CPUCallConv` and `ArrayModel` of Numba). It returns 0 where it raises nothing. Since Python takes
long to call anything with many arguments, a small function is compiled beside it, the entry, that
takes all of them from a row of words: an array is its address and shape.
"""

from __future__ import annotations

import ctypes
import operator
import struct
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

_FORMATS = {"bool": "q", "int64": "q", "uint64": "Q", "float64": "d"}
"""How a word holds a number of these types."""

_RETURNED = 2  # words for what a loop returns; one more is for what it raises
_FIRST = _RETURNED + 1  # word of the arguments
_NOTHING = ctypes.c_char * 0


class Argument(NamedTuple):
    """The type of a number, or of the entries of an array, which has axes."""

    name: str
    n_axes: int = 0
    writes: bool = False


@dataclass(frozen=True)
class Code:
    """Machine code, and what to know to call it.

    Attributes:
        name: Of the entry.
        needs: What else the code calls.
        arguments: What it takes.
        returns: The types of what is returned.
        entry: An object file with the entry.
        loop: One with the loop.
    """

    name: str
    needs: Sequence[str]
    arguments: Sequence[Argument]
    returns: Sequence[str]
    entry: bytes
    loop: bytes

    def loaded(self) -> Loop | None:
        """What calls it, or None where something that it needs is not in this process."""
        import llvmlite.binding as llvm

        engine = _engine()
        if not all(map(llvm.address_of_symbol, self.needs)):
            return None
        for part in (self.loop, self.entry):
            engine.add_object_file(llvm.ObjectFileRef.from_data(part))
        engine.finalize_object()
        return Loop(self, engine)


class Loop:
    """A loop of plain arrays and numbers, which an engine holds."""

    def __init__(self, code: Code, engine: Any) -> None:
        self._taken = [_taken(kind) for kind in code.arguments]
        self._words = struct.Struct(f"={''.join(map(_format, code.arguments))}")
        self._results = struct.Struct(f"={''.join(_FORMATS[kind] for kind in code.returns)}")
        self._room = ctypes.c_char * (8 * _FIRST + self._words.size)
        kind = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)
        self._call = kind(engine.get_function_address(code.name))
        self._engine = engine  # whose end would be that of the code

    def __call__(self, *given: Any) -> Any:
        """Run it; the interpreter's lock is released meanwhile.

        Raises:
            TypeError: An array is of another type or layout.
            RuntimeError: The loop has raised something.
        """
        values: list[Any] = []
        for taken, value in zip(self._taken, given, strict=True):
            values += taken(value)
        words = self._room()
        self._words.pack_into(words, 8 * _FIRST, *values)
        if self._call(ctypes.addressof(words)):
            raise RuntimeError("a compiled loop has failed")
        results = self._results.unpack_from(words)
        return results if len(results) > 1 else results[0] if results else None


@cache
def _engine() -> Any:
    import llvmlite.binding as llvm

    try:
        memory = _memory()
    except (ImportError, AttributeError):  # another Numba has it elsewhere
        from numba.core.runtime import _nrt_python

        memory = _nrt_python.c_helpers
    for name, address in memory.items():
        llvm.add_symbol(f"NRT_{name}", address)
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())


def _memory() -> Mapping[str, int]:
    """What loops get memory for their own arrays by: a part of Numba that needs no other."""
    (numba,) = getattr(find_spec("numba"), "submodule_search_locations", None) or [""]
    name = "numba.core.runtime._nrt_python"
    spec = PathFinder.find_spec(name, [str(Path(numba, "core", "runtime"))])
    if spec is None or spec.loader is None:
        raise ImportError(name)
    spec.loader.exec_module(module := module_from_spec(spec))
    return cast("Mapping[str, int]", module.c_helpers)


def _machine() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(jit=True)


def _format(argument: Argument) -> str:
    return "q" * (1 + argument.n_axes) if argument.n_axes else _FORMATS[argument.name]


def _taken(argument: Argument) -> Callable[[Any], Sequence[Any]]:
    """What makes the words of an argument."""
    if argument.n_axes:
        return partial(_of_array, np.dtype(argument.name), argument.n_axes, argument.writes)
    return {"bool": _of_bool, "float64": _of_float}.get(argument.name, _of_whole)


def _of_array(dtype: np.dtype[Any], n_axes: int, writes: bool, value: Any) -> Sequence[Any]:  # noqa: FBT001
    if value.dtype != dtype or value.ndim != n_axes or not (writes or value.flags.c_contiguous):
        raise TypeError(f"a compiled loop takes an array of {dtype}, with {n_axes} axes")
    if not writes:
        return (value.__array_interface__["data"][0], *value.shape)
    # A buffer is only of what can be written to and lies side by side, and takes little time.
    return (ctypes.addressof(_NOTHING.from_buffer(value)), *value.shape)


def _of_bool(value: Any) -> Sequence[int]:
    return (bool(value),)


def _of_float(value: Any) -> Sequence[float]:
    return (float(value),)


def _of_whole(value: Any) -> Sequence[int]:
    return (operator.index(value),)  # which a word refuses where it is too large


def form_of(signature: str) -> tuple[Sequence[Argument], Sequence[str]] | None:
    """The arguments of a signature and what it returns, as `Code` has them.

    None for what Numba alone can call. Loads Numba.
    """
    from numba import config
    from numba.core.registry import cpu_target
    from numba.core.sigutils import normalize_signature

    kinds, returned = normalize_signature(signature)
    arguments, returns = [one for kind in kinds if (one := _argument(kind))], _returned(returned)
    form = cpu_target.target_context.call_conv.get_function_type(returned, kinds)
    others = config.USING_SVML or sys.platform == "win32"  # where code needs more than is told
    return None if returns is None or others or not _fits(form, arguments) else (arguments, returns)


def of_compiled(loop: Any, arguments: Sequence[Argument], returns: Sequence[str]) -> Code:
    """The machine code of what Numba has compiled, of this form."""
    (made,) = loop.overloads.values()
    described, library = made.fndesc, made.library
    form = made.target_context.call_conv.get_function_type(described.restype, described.argtypes)
    name = described.llvm_func_name
    return Code(
        f"{name}.entry",
        [function.name for function in library._final_module.functions if _is_needed(function)],  # noqa: SLF001
        arguments,
        returns,
        _entry(name, form, arguments),
        library._get_compiled_object(),  # noqa: SLF001 - as Numba's own cache takes it
    )


def _is_needed(function: Any) -> bool:
    return function.is_declaration and not function.name.startswith("llvm.")


def _argument(kind: Any) -> Argument | None:
    """An argument, as `Code` has it; None where it is none of plain arrays and numbers."""
    name = str(getattr(kind, "dtype", kind))
    if not hasattr(kind, "layout"):
        return Argument(name) if name in _FORMATS else None
    plain = kind.layout == "C" and kind.ndim and name in np.sctypeDict
    return Argument(name, kind.ndim, kind.mutable) if plain else None


def _returned(kind: Any) -> Sequence[str] | None:
    """What a loop returns, as `Code` has it; None for what cannot be read."""
    if str(kind) == "none":
        return ()
    kinds = [str(kind.dtype)] * kind.count if hasattr(kind, "count") else [str(kind)]
    known = set(kinds) <= _FORMATS.keys() - {"bool"} and len(kinds) <= _RETURNED
    return kinds if known else None


def _fits(form: Any, arguments: Sequence[Argument]) -> bool:
    """Whether a loop takes what the entry gives it, as LLVM has the types."""
    scalars = {"bool": "i8", "int64": "i64", "uint64": "i64", "float64": "double"}
    expected: list[str] = []
    for name, n_axes, _ in arguments:
        array = ["*", "*", "i64", "i64", "*", *["i64"] * (2 * n_axes)]
        expected += array if n_axes else [scalars[name]]
    given = ["*" if kind.is_pointer else str(kind) for kind in form.args[2:]]
    return given == expected and str(form.return_type) == "i32"


def _entry(name: str, form: Any, arguments: Sequence[Argument]) -> bytes:
    """An object file with what calls a loop, its arguments in words."""
    import llvmlite.binding as llvm
    from llvmlite import ir

    module, word = ir.Module(), ir.IntType(64)
    entry_form = ir.FunctionType(form.return_type, [word.as_pointer()])
    loop, entry = ir.Function(module, form, name), ir.Function(module, entry_form, f"{name}.entry")
    builder = ir.IRBuilder(entry.append_basic_block())

    def at(place: int) -> Any:
        return builder.gep(entry.args[0], [word(place)])

    words = (builder.load(at(place)) for place in count(_FIRST))
    values = [value for kind in arguments for value in _values(builder, kind, words)]
    pairs = zip([at(0), at(_RETURNED), *values], form.args, strict=True)
    builder.ret(builder.call(loop, [_cast(builder, *pair) for pair in pairs]))
    machine, made = _machine(), llvm.parse_assembly(str(module))
    made.triple, made.data_layout = llvm.get_process_triple(), str(machine.target_data)
    return bytes(machine.emit_object(made))


def _values(builder: Any, argument: Argument, words: Iterator[Any]) -> Sequence[Any]:
    """What a loop takes for an argument, of its words."""
    if not argument.n_axes:
        return [next(words)]
    address, shape = next(words), [next(words) for _ in range(argument.n_axes)]
    none, strides = address.type(0), [address.type(np.dtype(argument.name).itemsize)]
    for length in reversed(shape):
        strides.insert(0, builder.mul(strides[0], length))
    size = builder.udiv(strides[0], strides[-1])
    return [none, none, size, strides[-1], address, *shape, *strides[1:]]


def _cast(builder: Any, value: Any, kind: Any) -> Any:
    """The same bits as what a loop takes."""
    if kind.is_pointer and not value.type.is_pointer:
        return builder.inttoptr(value, kind)
    if kind.is_pointer or str(kind) == "double":
        return builder.bitcast(value, kind)
    return builder.trunc(value, kind) if str(kind) == "i8" else value
