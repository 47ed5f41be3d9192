"""coop runs commands and an agent's tools in a sandbox on this machine."""

from ._errors import CoopError
from ._exec import ExecResult, exec, probe, version
from ._session import Session, ToolResult

__all__ = ["CoopError", "ExecResult", "Session", "ToolResult", "exec", "probe", "version"]
