"""One command in a sandbox, and what this machine offers."""

import os
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from ._interruptible import interruptible
from ._library import library
from ._texts import answer_of, encode, refuse_nul


@dataclass(frozen=True)
class ExecResult:
    """How a command ended, and what it wrote."""

    exit_code: int  # its own; 128 + signal; 124 after the timeout; 126 and 127 when it could not be run
    # "exited", "signalled", "timed_out", "out_of_memory", "violation", "not_found", "not_executable", "guards_incomplete",
    # "network_incomplete"
    outcome: str
    stdout: str
    stderr: str
    denials: List[Dict[str, Any]]  # what the sandbox refused: "what", "rule", "grant"
    notes: List[str]
    raw: Dict[str, Any]  # the whole answer, as `coop run --json` prints it


def version() -> str:
    """The library's version, like "0.1.0"."""
    text: bytes = library().coop_version()
    return text.decode("utf-8")


def probe() -> Dict[str, Any]:
    """What this machine offers, as `coop status --json` prints it."""
    answer: Dict[str, Any] = answer_of(library().coop_probe)
    return answer


def exec(
    command: Union[str, Sequence[str]],
    *,
    workspace: "Union[str, os.PathLike[str], None]" = None,
    policy: Optional[Mapping[str, Any]] = None,
    environment: Optional[Mapping[str, str]] = None,
    directory: Optional[str] = None,
    timeout: Optional[float] = None,
) -> ExecResult:
    """Runs one command in a sandbox, to its end.

    A text goes to the shell; a list is a program and its arguments. `workspace` is writable and the current
    directory by default; `policy` has the keys of a policy file's [sandbox] table; `directory` is a path inside;
    `timeout` is in seconds. Ctrl-C kills everything inside.
    """
    text = request_of(command, workspace, policy, environment, directory, timeout)
    loaded = library()
    return result_of(interruptible(lambda cancel_fd: answer_of(lambda out: loaded.coop_exec(text, cancel_fd, out))))


def request_of(
    command: Union[str, Sequence[str]],
    workspace: "Union[str, os.PathLike[str], None]",
    policy: Optional[Mapping[str, Any]],
    environment: Optional[Mapping[str, str]],
    directory: Optional[str],
    timeout: Optional[float],
) -> bytes:
    """The request of coop_exec and coop_run."""
    wanted = dict(policy or {})
    if workspace is not None:
        wanted["workspace"] = os.fspath(workspace)
    request: Dict[str, Any] = {"command": command if isinstance(command, str) else list(command)}
    if wanted:
        request["policy"] = wanted
    if environment is not None:
        request["environment"] = dict(environment)
    if directory is not None:
        request["directory"] = os.fspath(directory)
    if timeout is not None:
        request["timeout"] = timeout
    for name, value in request.items():
        refuse_nul(name, value)
    return encode(request)


def result_of(raw: Dict[str, Any]) -> ExecResult:
    return ExecResult(
        exit_code=raw["exit_code"],
        outcome=raw["outcome"],
        stdout=raw["stdout"]["text"],
        stderr=raw["stderr"]["text"],
        denials=raw["denials"],
        notes=raw["notes"],
        raw=raw,
    )
