"""coop runs commands and an agent's tools in a sandbox on this machine."""

from ._aio import Process, exec_async, spawn
from ._errors import CoopError
from ._exec import ExecResult, exec, probe, version
from ._tools import ToolResult, Tools

__all__ = [
    "CoopError",
    "ExecResult",
    "Process",
    "ToolResult",
    "Tools",
    "exec",
    "exec_async",
    "probe",
    "spawn",
    "version",
]
