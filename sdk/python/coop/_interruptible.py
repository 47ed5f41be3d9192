"""Calls that Ctrl-C can end.

Python runs signal handlers only between two steps of the main thread, and a call into the library is one step,
however long the command takes. So the call is made in a thread of its own while this one waits, which Ctrl-C does
interrupt; the library is then told to kill the command, through a pipe.
"""

import _thread
import os
import threading
from typing import Any, Callable, Optional

LONGEST_WAIT_SECONDS = 0.2


class _Work:
    """One call. The descriptors belong to the thread that makes it: an interrupt cannot make that forget them.
    Locks and not events: these are one step, and an interrupt cannot leave them half done."""

    def __init__(self, function: Callable[[int], Any]) -> None:
        self._function = function
        self._claim = threading.Lock()  # of the thread that makes the call, or of the caller that gives up first
        self._running = threading.Lock()
        self._running.acquire()
        self._ended = False
        self._guard = threading.Lock()  # of the next two
        self._cancelled = False
        self._writable: Optional[int] = None
        self._answer: Any = None
        self._failure: Optional[BaseException] = None

    def run(self) -> None:
        if not self._claim.acquire(blocking=False):
            return
        try:
            self._answer = self._call()
        except BaseException as failure:  # the caller raises it
            self._failure = failure
        finally:
            self._ended = True
            self._running.release()

    def _call(self) -> Any:
        readable, writable = os.pipe()
        try:
            with self._guard:
                self._writable = writable
                if self._cancelled:
                    os.write(writable, b"x")
            return self._function(readable)
        finally:
            with self._guard:
                self._writable = None
            os.close(readable)
            os.close(writable)

    def answer(self) -> Any:
        # Again and again: a signal that comes just before Python begins to wait does not wake it.
        while not self._running.acquire(timeout=LONGEST_WAIT_SECONDS):
            pass
        if self._failure is not None:
            raise self._failure
        return self._answer

    def give_up(self) -> None:
        """Returns when the call has ended, or when it is certain that it never begins."""
        if self._claim.acquire(blocking=False):
            return
        while not self._ended:
            try:
                if not self._cancelled:
                    self._cancel()
                self._running.acquire(timeout=LONGEST_WAIT_SECONDS)
            except BaseException:  # a second Ctrl-C: the first is raised when the call has ended
                pass

    def _cancel(self) -> None:
        with self._guard:
            if self._writable is not None:
                os.write(self._writable, b"x")
            self._cancelled = True  # after it: an interrupt between the two only makes us write again


def interruptible(function: Callable[[int], Any]) -> Any:
    """Returns function(cancel_fd). When an exception comes while waiting, cancels, and raises it afterwards."""
    work = _Work(function)
    try:
        # Not threading.Thread: its start() is Python code, which an interrupt can leave half done. This is one step.
        _thread.start_new_thread(work.run, ())
        return work.answer()
    except BaseException:
        work.give_up()
        raise
