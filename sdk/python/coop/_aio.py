"""A command in a sandbox while it runs, for asyncio: its streams, and its end."""

import asyncio
import contextlib
import ctypes
import os
import threading
from types import TracebackType
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Tuple, Type, Union

from ._exec import ExecResult, request_of, result_of
from ._library import library
from ._texts import answer_of
from ._threads import in_thread

_Place = Union[str, "os.PathLike[str]", None]
_READ_AT_ONCE = 65536


class Process:
    """A command that runs. Leaving `async with`, and cancelling `wait()`, kill everything inside."""

    def __init__(self, stdin: Optional[asyncio.StreamWriter], stdout: asyncio.StreamReader,
                 stderr: asyncio.StreamReader, ended: "asyncio.Future[Dict[str, Any]]",
                 cancel: Callable[[], None]) -> None:
        self.stdin = stdin  # close() it, or a command that reads to the end of its input does not end
        self.stdout = stdout
        self.stderr = stderr
        self._ended = ended
        self._cancel = cancel

    def kill(self) -> None:
        """Kills everything inside; wait() then returns with the outcome "signalled"."""
        self._cancel()

    async def wait(self) -> ExecResult:
        """How it ended. `stdout` and `stderr` of the result are empty: read the streams."""
        try:
            return result_of(await asyncio.shield(self._ended))
        except asyncio.CancelledError:
            self.kill()
            await _quietly(self._ended)
            raise

    async def __aenter__(self) -> "Process":
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        self.kill()
        if self.stdin is not None:
            self.stdin.close()
        await _quietly(self._ended)


async def spawn(
    command: Union[str, Sequence[str]],
    *,
    stdin: bool = False,
    workspace: _Place = None,
    policy: Optional[Mapping[str, Any]] = None,
    environment: Optional[Mapping[str, str]] = None,
    directory: Optional[str] = None,
    timeout: Optional[float] = None,
) -> Process:
    """Starts one command in a sandbox. `stdin`: whether it gets a pipe as its input, and /dev/null otherwise."""
    text = request_of(command, workspace, policy, environment, directory, timeout)
    loaded = library()
    with contextlib.ExitStack() as ours, contextlib.ExitStack() as theirs:
        inside = -1
        writable = -1
        if stdin:
            inside, writable = _pipe(theirs, ours)
        readable_out, out = _pipe(ours, theirs)
        readable_err, err = _pipe(ours, theirs)
        cancel_read, cancel_write = os.pipe()
        theirs.callback(os.close, cancel_read)
        stdout = await _reader(readable_out)
        stderr = await _reader(readable_err)
        writer = await _writer(writable) if stdin else None
        ours.pop_all()  # the transports close them now
        descriptors = (ctypes.c_int * 3)(inside, out, err)
        cancel = _Cancel(cancel_write)
        closing = theirs.pop_all()

    def work() -> Dict[str, Any]:
        try:
            with closing:
                answer: Dict[str, Any] = answer_of(
                    lambda answer_out: loaded.coop_run(text, descriptors, cancel_read, answer_out)
                )
        finally:
            cancel.close()
        return answer

    ended = in_thread(work)
    return Process(writer, stdout, stderr, ended, cancel)


async def exec_async(
    command: Union[str, Sequence[str]],
    *,
    input: Union[bytes, str, None] = None,
    on_output: Optional[Callable[[str, bytes], None]] = None,
    workspace: _Place = None,
    policy: Optional[Mapping[str, Any]] = None,
    environment: Optional[Mapping[str, str]] = None,
    directory: Optional[str] = None,
    timeout: Optional[float] = None,
) -> ExecResult:
    """As `exec`, without blocking. `on_output("stdout" or "stderr", piece)` hears what is written while it runs.
    When the task is cancelled, everything inside is killed. All output is kept."""
    process = await spawn(command, stdin=input is not None, workspace=workspace, policy=policy,
                          environment=environment, directory=directory, timeout=timeout)
    async with process:
        data = input.encode("utf-8") if isinstance(input, str) else input
        out, err, _ = await asyncio.gather(
            _read_all("stdout", process.stdout, on_output),
            _read_all("stderr", process.stderr, on_output),
            _feed(process.stdin, data),
        )
        done = await process.wait()
    return ExecResult(exit_code=done.exit_code, outcome=done.outcome, stdout=out, stderr=err, denials=done.denials,
                      notes=done.notes, raw=done.raw)


class _Cancel:
    """Makes the library kill the command; once, and not after its descriptor is closed."""

    def __init__(self, writable: int) -> None:
        self._guard = threading.Lock()
        self._writable: Optional[int] = writable

    def __call__(self) -> None:
        with self._guard:
            if self._writable is not None:
                os.write(self._writable, b"x")

    def close(self) -> None:
        with self._guard:
            if self._writable is not None:
                os.close(self._writable)
            self._writable = None


def _pipe(reading: contextlib.ExitStack, writing: contextlib.ExitStack) -> Tuple[int, int]:
    readable, writable = os.pipe()
    reading.callback(os.close, readable)
    writing.callback(os.close, writable)
    return readable, writable


async def _reader(fd: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(fd, "rb", 0)
    )
    return reader


async def _writer(fd: int) -> asyncio.StreamWriter:
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, os.fdopen(fd, "wb", 0))
    return asyncio.StreamWriter(transport, protocol, None, loop)


async def _read_all(name: str, stream: asyncio.StreamReader, hear: Optional[Callable[[str, bytes], None]]) -> str:
    pieces = []
    while piece := await stream.read(_READ_AT_ONCE):
        pieces.append(piece)
        if hear is not None:
            hear(name, piece)
    return b"".join(pieces).decode("utf-8", "replace")


async def _feed(stdin: Optional[asyncio.StreamWriter], data: Optional[bytes]) -> None:
    if stdin is None:
        return
    with contextlib.suppress(ConnectionError):  # a command need not read its input
        stdin.write(data or b"")
        await stdin.drain()
    stdin.close()


async def _quietly(future: "asyncio.Future[Dict[str, Any]]") -> None:
    with contextlib.suppress(Exception):
        await asyncio.shield(future)
