"""Blocking work in a thread of its own: asyncio's own pool is small, and a command may run for hours."""

import asyncio
import threading
from typing import Any, Callable


def in_thread(work: Callable[[], Any]) -> "asyncio.Future[Any]":
    loop = asyncio.get_running_loop()
    future: "asyncio.Future[Any]" = loop.create_future()

    def finish(answer: Any, failure: "BaseException | None") -> None:
        if future.done():
            return
        if failure is not None:
            future.set_exception(failure)
        else:
            future.set_result(answer)

    def run() -> None:
        answer: Any = None
        failure: "BaseException | None" = None
        try:
            answer = work()
        except BaseException as raised:  # the caller's to hear of
            failure = raised
        try:
            loop.call_soon_threadsafe(finish, answer, failure)
        except RuntimeError:  # the loop is closed: nothing waits for this any more
            pass

    threading.Thread(target=run, daemon=True).start()
    return future
