"""Finds libcoop.so and tells ctypes what its functions take."""

import ctypes
import ctypes.util
import functools
import os
from pathlib import Path
from typing import Iterator

from ._errors import CoopError

INTERFACE_VERSION = 1
FILE_NAMES = ("libcoop.so.1", "libcoop.so")

# Texts that come back are void pointers: ctypes would turn a char pointer into bytes at once, and the address
# that coop_free() needs would be lost.
TEXT_OUT = ctypes.POINTER(ctypes.c_void_p)
HANDLE_OUT = ctypes.POINTER(ctypes.c_void_p)

# name: (what it returns, what it takes), as coop/coop.h declares them
FUNCTIONS = {
    "coop_version": (ctypes.c_char_p, []),
    "coop_probe": (ctypes.c_int, [TEXT_OUT]),
    "coop_exec": (ctypes.c_int, [ctypes.c_char_p, ctypes.c_int, TEXT_OUT]),
    "coop_run": (ctypes.c_int, [ctypes.c_char_p, ctypes.POINTER(ctypes.c_int), ctypes.c_int, TEXT_OUT]),
    "coop_tools_open": (ctypes.c_int, [ctypes.c_char_p, HANDLE_OUT, TEXT_OUT]),
    "coop_tools_list": (ctypes.c_int, [ctypes.c_void_p, TEXT_OUT]),
    "coop_tools_call": (
        ctypes.c_int,
        [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, TEXT_OUT],
    ),
    "coop_tools_close": (None, [ctypes.c_void_p]),
    "coop_free": (None, [ctypes.c_void_p]),
}


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    """The library, loaded and checked once. A failure is not kept: the next call looks again."""
    loaded, place = _load()
    _check_interface(loaded, place)
    for name, (returns, takes) in FUNCTIONS.items():
        function = getattr(loaded, name)
        function.restype = returns
        function.argtypes = takes
    return loaded


def _load() -> "tuple[ctypes.CDLL, str]":
    tried = []
    for place in _places():
        try:
            return ctypes.CDLL(place), place
        except OSError as error:
            tried.append(f"{place} ({error})")
    raise CoopError(
        "unsupported",
        "load libcoop.so: not found; looked at " + ", ".join(tried),
        "build coop and set COOP_LIBRARY to the path of its libcoop.so",
    )


def _places() -> Iterator[str]:
    named = os.environ.get("COOP_LIBRARY")
    if named:
        yield os.path.abspath(named)  # and nothing else: another library is not what was asked for
        return
    for name in FILE_NAMES:
        yield str(Path(__file__).resolve().parent / name)
    yield from FILE_NAMES
    found = ctypes.util.find_library("coop")
    if found is not None and found not in FILE_NAMES:
        yield found


def _check_interface(loaded: ctypes.CDLL, place: str) -> None:
    try:
        version = loaded.coop_abi_version()
    except AttributeError:
        raise CoopError(
            "unsupported",
            f"load {place}: it has no function coop_abi_version, so it is not coop's library",
            "set COOP_LIBRARY to the path of libcoop.so",
        ) from None
    if version != INTERFACE_VERSION:
        raise CoopError(
            "unsupported",
            f"load {place}: its interface has version {version}, this package needs version {INTERFACE_VERSION}",
            "use the Python package and the library of the same coop",
        )
