"""How everything here fails."""


class CoopError(Exception):
    """coop could not do what was asked. A command that fails inside the sandbox is an answer, not this."""

    def __init__(self, kind: str, message: str, hint: str = "") -> None:
        super().__init__(kind, message, hint)  # all three, or pickle could not make it again
        self.kind = kind  # "system", "invalid", "unsupported", "refused", "timed_out", "unavailable" or "internal"
        self.message = message
        self.hint = hint  # what to do about it; may be empty

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message
