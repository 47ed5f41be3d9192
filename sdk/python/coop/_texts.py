"""JSON to the library and back."""

import ctypes
import json
from typing import Any, Callable, NoReturn, Tuple

from ._errors import CoopError
from ._library import library

COOP_OK = 0


def encode(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")


def refuse_nul(what: str, value: Any) -> None:
    """Raises ValueError for a text with NUL anywhere in `value`: the kernel would take only what is before it."""
    if isinstance(value, str):
        if "\0" in value:
            raise ValueError(f"{what}: {value!r} has the character NUL in it")
    elif isinstance(value, dict):
        for key, entry in value.items():
            refuse_nul(what, key)
            refuse_nul(what, entry)
    elif isinstance(value, (list, tuple)):
        for entry in value:
            refuse_nul(what, entry)


def exchange(call: Callable[[Any], int]) -> Tuple[int, Any]:
    """Gives `call` a place for the library's text. The status, and what the text says; None without a text."""
    text = ctypes.c_void_p()
    try:
        status = call(ctypes.byref(text))
        return status, None if text.value is None else json.loads(ctypes.string_at(text.value))
    finally:
        library().coop_free(text)


def raise_failure(answer: Any) -> NoReturn:
    if answer is None:
        raise MemoryError("libcoop.so had no memory for its answer")
    error = answer["error"]
    raise CoopError(error["kind"], error["message"], error.get("hint") or "")


def answer_of(call: Callable[[Any], int]) -> Any:
    """What the library answers to `call`; raises what it says when it failed."""
    status, answer = exchange(call)
    if status != COOP_OK or answer is None:
        raise_failure(answer)
    return answer
