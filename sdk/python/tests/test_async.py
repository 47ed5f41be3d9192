"""asyncio: streams, input, and what a cancelled task leaves behind."""

import asyncio
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PACKAGE))

import coop  # noqa: E402


def running(marker):
    return subprocess.run(["pgrep", "-f", f"sleep {marker}"], stdout=subprocess.DEVNULL, check=False).returncode == 0


class AsyncTest(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="coop-python-")
        self.addCleanup(place.cleanup)
        self.workspace = Path(place.name).resolve()

    async def gone(self, marker):
        end = time.monotonic() + 20
        while running(marker) and time.monotonic() < end:
            await asyncio.sleep(0.05)
        return not running(marker)

    async def started(self, marker):
        end = time.monotonic() + 20
        while not running(marker) and time.monotonic() < end:
            await asyncio.sleep(0.05)
        return running(marker)

    async def test_input_goes_in_and_both_streams_come_out(self):
        heard = []
        done = await coop.exec_async("cat; echo err >&2; exit 3", workspace=self.workspace, input="a\nb\n",
                                     on_output=lambda name, piece: heard.append((name, piece)))
        self.assertEqual((done.exit_code, done.outcome, done.stdout, done.stderr), (3, "exited", "a\nb\n", "err\n"))
        self.assertIn(("stderr", b"err\n"), heard)

    async def test_much_goes_both_ways(self):
        data = b"x" * 3_000_000
        done = await coop.exec_async(["cat"], workspace=self.workspace, input=data)
        self.assertEqual(len(done.stdout), len(data))

    async def test_a_process_is_talked_to_while_it_runs(self):
        process = await coop.spawn("while read line; do echo got $line; done", workspace=self.workspace, stdin=True)
        async with process:
            for word in (b"one", b"two"):
                process.stdin.write(word + b"\n")
                self.assertEqual(await process.stdout.readline(), b"got " + word + b"\n")
            process.stdin.close()
            self.assertEqual((await process.wait()).exit_code, 0)

    async def test_a_cancelled_task_kills_what_runs_inside(self):
        marker = f"64.{time.monotonic_ns() % 10**9}"
        task = asyncio.ensure_future(coop.exec_async(f"setsid sleep {marker} & sleep {marker}", workspace=self.workspace))
        self.assertTrue(await self.started(marker))
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        self.assertTrue(await self.gone(marker))

    async def test_leaving_kills(self):
        marker = f"65.{time.monotonic_ns() % 10**9}"
        async with await coop.spawn(["sleep", marker], workspace=self.workspace):
            self.assertTrue(await self.started(marker))
        self.assertTrue(await self.gone(marker))

    async def test_many_run_at_once(self):
        began = time.monotonic()
        done = await asyncio.gather(*(coop.exec_async("sleep 1; echo done", workspace=self.workspace) for _ in range(12)))
        self.assertEqual({one.stdout for one in done}, {"done\n"})
        self.assertLess(time.monotonic() - began, 11)  # one after the other would be 12

    async def test_a_mistake_is_an_error(self):
        with self.assertRaises(coop.CoopError) as raised:
            await coop.exec_async("true", workspace=self.workspace, policy={"memroy": "1g"})
        self.assertIn("memroy", raised.exception.message)

    async def test_tools(self):
        marker = f"66.{time.monotonic_ns() % 10**9}"
        with coop.Tools(self.workspace) as tools:
            self.assertEqual((await tools.call_async("bash", command="echo hello")).text, "hello\n")
            task = asyncio.ensure_future(tools.call_async("bash", command=f"sleep {marker}"))
            self.assertTrue(await self.started(marker))
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            self.assertTrue(await self.gone(marker))


if __name__ == "__main__":
    unittest.main()
