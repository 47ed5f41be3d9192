"""An agent's tools, in one sandbox."""

import asyncio
import contextlib
import ctypes
import os
import threading
import weakref
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Type, Union

from ._errors import CoopError
from ._interruptible import interruptible
from ._library import library
from ._texts import COOP_OK, answer_of, encode, exchange, raise_failure, refuse_nul
from ._threads import in_thread

_Place = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class ToolResult:
    """What a tool answered."""

    text: str  # for the model
    structured: Dict[str, Any]  # for the program; "outcome" is always there
    failed: bool  # refused, or the command did not end with 0


class Tools:
    """The tools of one principal. Many threads may call at once.

    Without `user` and `channel` it is the agent itself: all tools, always in the sandbox. With `config`, a
    coop.toml, it is the person `user`, or the one that `channel` belongs to, with the trust written there.
    """

    def __init__(
        self,
        workspace: Optional[_Place] = None,
        *,
        policy: Optional[Mapping[str, Any]] = None,
        on_leak: str = "redact",
        config: Optional[_Place] = None,
        agent: Optional[str] = None,
        user: Optional[str] = None,
        channel: Optional[str] = None,
        group: bool = False,
    ) -> None:
        given = {
            "workspace": None if workspace is None else os.fspath(workspace),
            "policy": None if policy is None else dict(policy),
            "on_leak": on_leak,
            "config": None if config is None else os.fspath(config),
            "agent": agent,
            "as": user,
            "channel": channel,
            "group": True if group else None,
        }
        options = {name: value for name, value in given.items() if value is not None}
        for name, value in options.items():
            refuse_nul(name, value)
        self._library = library()
        self._handle = _open(self._library, encode(options))
        self._process = os.getpid()
        self._changed = threading.Condition()
        self._calls = 0
        self._closed = False
        # Closes once, also when the object is forgotten. Not at exit: another thread may be in a call then.
        self._finish = weakref.finalize(self, _close, self._library, self._handle, self._process)
        self._finish.atexit = False

    def list(self) -> List[Dict[str, Any]]:
        """What may be called: "name", "description" and "inputSchema" of each."""
        answer: List[Dict[str, Any]] = self._ask(
            lambda cancel_fd, out: self._library.coop_tools_list(self._handle, out)
        )
        return answer

    def call(self, name: str, /, **arguments: Any) -> ToolResult:
        """Calls one tool. A refused call is an answer with `failed`. Ctrl-C kills the command that runs."""
        refuse_nul("the name of a tool", name)
        tool = name.encode("utf-8")
        text = encode(arguments)  # the tools themselves refuse NUL, where it is not the content of a file
        answer = self._ask(
            lambda cancel_fd, out: self._library.coop_tools_call(self._handle, tool, text, cancel_fd, out)
        )
        return ToolResult(answer["text"], answer["structured"], answer["failed"])

    async def call_async(self, name: str, /, **arguments: Any) -> ToolResult:
        """As `call`, without blocking. When the task is cancelled, the command that runs is killed."""
        refuse_nul("the name of a tool", name)
        tool = name.encode("utf-8")
        text = encode(arguments)
        readable, writable = os.pipe()

        def ask() -> Any:
            with self._in_use():
                return answer_of(
                    lambda out: self._library.coop_tools_call(self._handle, tool, text, readable, out)
                )

        try:
            answering = in_thread(ask)
            try:
                answer = await asyncio.shield(answering)
            except asyncio.CancelledError:
                os.write(writable, b"x")
                await asyncio.wait([answering])
                raise
        finally:
            os.close(readable)
            os.close(writable)
        return ToolResult(answer["text"], answer["structured"], answer["failed"])

    def close(self) -> None:
        """Refuses new calls, waits for those that run, and frees the sandbox. A second time it does nothing."""
        with self._changed:
            self._closed = True
            self._changed.wait_for(lambda: self._calls == 0)
        self._finish()

    def __enter__(self) -> "Tools":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def _ask(self, question: Callable[[int, Any], int]) -> Any:
        def ask(cancel_fd: int) -> Any:
            # Counted here, in the thread that makes the call: Ctrl-C cannot come between.
            with self._in_use():
                return answer_of(lambda out: question(cancel_fd, out))

        return interruptible(ask)

    @contextlib.contextmanager
    def _in_use(self) -> Iterator[None]:
        with self._changed:
            if self._closed:
                raise CoopError("invalid", "use tools: they are closed", "make a new coop.Tools")
            if self._process != os.getpid():
                raise CoopError(
                    "invalid", "use tools: they were opened before a fork", "make a coop.Tools in this process"
                )
            self._calls += 1
        try:
            yield
        finally:
            with self._changed:
                self._calls -= 1
                self._changed.notify_all()


def _open(loaded: ctypes.CDLL, options: bytes) -> ctypes.c_void_p:
    handle = ctypes.c_void_p()
    status, answer = exchange(lambda out: loaded.coop_tools_open(options, ctypes.byref(handle), out))
    if status != COOP_OK:
        raise_failure(answer)
    return handle


def _close(loaded: ctypes.CDLL, handle: ctypes.c_void_p, process: int) -> None:
    # After a fork the handle is a copy: closing it there would end the sandbox of the process that opened it.
    if os.getpid() == process:
        loaded.coop_tools_close(handle)
