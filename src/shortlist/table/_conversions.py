"""Files that are not read as they are: text in other encodings, and what other programs convert."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import io
import json
import shlex
import zlib
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import IO, Any

from shortlist.errors import Words, shown
from shortlist.table.part import Cause

_MARKS = {  # those of UTF-32 first, of which one begins as one of UTF-16
    **dict.fromkeys((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE), "utf-32"),
    **dict.fromkeys((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE), "utf-16"),
}
_BYTE_ORDER_MARK = "\ufeff"
_CHUNK = 2**20
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


def encoding_of(source: str | bytes) -> str | None:
    """The encoding of a text that is not UTF-8, or None if it is, or if it cannot be told.

    Every text is Latin-1 that is in none of the others; Windows-1252 is called so, too.

    Args:
        source: The name of a file, or its content. What gzip compressed is looked into, and what
            zstd did if PyArrow is installed.
    """
    with contextlib.suppress(OSError, EOFError, ImportError, zlib.error), _opened(source) as raw:
        return _encoding(_unwrapped(raw))
    return None


def first_line(source: str | bytes, encoding: str) -> bytes:
    """The first line in UTF-8, of a text in another encoding. What follows is not looked at.

    Raises:
        UnicodeError: It is in no such encoding.
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    line = io.StringIO()
    with _opened(source) as raw:
        content = _unwrapped(raw)
        # More than a byte at a time would decode a part of the rows.
        while byte := content.read(1):
            line.write(letter := decoder.decode(byte))
            is_quoted = line.getvalue().count('"') % 2 == 1
            if letter == "\n" and not is_quoted:
                break
    return line.getvalue().removeprefix(_BYTE_ORDER_MARK).encode()


def in_utf_8(source: str | bytes, encoding: str) -> bytes:
    """All of a text that is in another encoding, without a mark before it.

    Raises:
        UnicodeError: A part of it is in no such encoding.
    """
    converted = io.BytesIO()
    with _opened(source) as raw:
        text = io.TextIOWrapper(_unwrapped(raw), encoding, newline="")
        converted.write(text.read(_CHUNK).removeprefix(_BYTE_ORDER_MARK).encode())
        while part := text.read(_CHUNK):
            converted.write(part.encode())
    return converted.getvalue()


def _unwrapped(raw: IO[bytes]) -> Any:
    first = raw.read(4)
    raw.seek(0)
    if first.startswith(_GZIP):
        return gzip.GzipFile(fileobj=raw)
    return _unpacked(raw) if first == _ZSTD else raw


def _opened(source: str | bytes) -> IO[bytes]:
    return Path(source).open("rb") if isinstance(source, str) else io.BytesIO(source)


def _unpacked(raw: IO[bytes]) -> Any:
    """What zstd compressed, as a file; ImportError if nothing here can unpack it."""
    import pyarrow as pa

    return pa.CompressedInputStream(raw, "zstd")


def _encoding(content: IO[bytes] | gzip.GzipFile) -> str | None:
    chunk = content.read(_CHUNK)
    if marked := next((name for mark, name in _MARKS.items() if chunk.startswith(mark)), None):
        return marked
    # A zero byte is half of a Latin letter, where no mark stands before it.
    if b"\0" in chunk[:2]:
        return "utf-16be" if chunk.startswith(b"\0") else "utf-16le"
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        while chunk:
            decoder.decode(chunk)
            chunk = content.read(_CHUNK)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return "latin1"
    return None


def conversion(file: str | None, encoding: str) -> Cause:
    """What a message says of the encoding, and the command that converts the file.

    >>> rule, remedy = conversion("my plays.csv", "latin1")
    >>> print(rule)
    is not in UTF-8 but, it seems, in latin1
    >>> print(remedy)
    give encoding="latin1", or convert it:
    iconv -f latin1 -t utf-8 'my plays.csv' > 'my plays.utf8.csv'
    """
    convert = f"iconv -f {encoding} -t utf-8"
    if file is None:  # the standard input
        command = f"put {convert} before this command in the pipe"
    else:
        path = PurePath(file)
        unpack = {".gz": "gzip -dc", ".zst": "zstd -dc"}.get(path.suffix.lower())
        path = path.with_suffix("") if unpack else path
        new = _quoted(path.with_suffix(f".utf8{path.suffix}"))
        reads = f"{unpack} {_quoted(file)} | {convert}" if unpack else f"{convert} {_quoted(file)}"
        command = f"{reads} > {new}"
    return Cause(
        Words("is not in UTF-8 but, it seems, in {encoding}", encoding=encoding),
        Words(
            "give {encoding=}, or convert it: {command}",
            given={"encoding": Words('"{name}"', name=encoding)},
            command=command,
        ),
    )


def _quoted(path: object) -> str:
    return shlex.quote(shown(str(path)))


def converted(path: str) -> Cause | None:
    """What a file is by its suffix, and what makes a table of it; None if that is not known.

    >>> rule, remedy = converted("my plays.csv.bz2")
    >>> print(rule, remedy, sep="; ")
    is compressed by bzip2; unpack it: bunzip2 -k 'my plays.csv.bz2'
    """
    convert = _CONVERTED.get(PurePath(path).suffix.lower())
    return None if convert is None else convert(PurePath(path))


def _of_sheets(path: PurePath) -> Cause:
    # As text: types that are found by looking would let one cell change how others are written.
    given, made = _in_python(path), _in_python(path.with_suffix(".csv"))
    read = f"import pandas; pandas.read_excel({given}, dtype=str).to_csv({made}, index=False)"
    return _cause("is a spreadsheet", "convert it", f"python -c {shlex.quote(read)}")


def array_of_json(path: str) -> Cause:
    """What converts a file that is one array, though its name ends as that of lines."""
    return _of_json(PurePath(path), ".lines.ndjson")


def _of_json(path: PurePath, suffix: str = ".ndjson") -> Cause:
    command = f"jq -c '.[]' {_quoted(path)} > {_quoted(path.with_suffix(suffix))}"
    rule = "is JSON, of which only lines are read that are an object each"
    return _cause(rule, "convert an array", command)


def _of_arrow(path: PurePath) -> Cause:
    given, made = _in_python(path), _in_python(path.with_suffix(".parquet"))
    read = f"import polars; polars.read_ipc({given}).write_parquet({made})"
    return _cause("is an Arrow file", "convert it", f"python -c {shlex.quote(read)}")


def _of_zip(path: PurePath) -> Cause:
    folder = _quoted(path.with_suffix(""))
    command = f"unzip {_quoted(path)} -d {folder}"
    return _cause("is a zip archive", "unpack it, and give the folder", command)


def _packed(program: str, unpack: str) -> Callable[[PurePath], Cause]:
    rule = f"is compressed by {program}"
    return lambda path: _cause(rule, "unpack it", f"{unpack} -k {_quoted(path)}")


def _cause(rule: str, remedy: str, command: str) -> Cause:
    return Cause(Words("{rule}", rule=rule), Words("{a}: {b}", a=remedy, b=command))


def _in_python(path: PurePath) -> str:
    return json.dumps(shown(str(path)), ensure_ascii=False)


_CONVERTED: dict[str, Callable[[PurePath], Cause]] = {
    **dict.fromkeys((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), _of_sheets),
    **dict.fromkeys((".feather", ".arrow", ".ipc"), _of_arrow),
    ".json": _of_json,
    ".zip": _of_zip,
    ".bz2": _packed("bzip2", "bunzip2"),
    ".xz": _packed("xz", "unxz"),
}
