"""Errors of model calls: transient ones, which are worth another try later, and all others."""

from accounts.reasons import CodedError, Reason


class ProviderError(CodedError):
    """A model call failed. Messages never contain chat text or keys."""


class TransientError(ProviderError):
    """Rate limit, overload, timeout, lost connection. ``retry_after`` is in seconds."""

    def __init__(self, reason: Reason | str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class PermanentError(ProviderError):
    """Wrong key, unknown model, refused request: another try gives the same answer."""


class RefusedError(PermanentError):
    """The server refuses every request: a wrong key, an unknown model or address, a page of a
    proxy. The work is not at fault; it waits until an operator fixes the cause."""

    opens = False  # whether it is the first since the server last answered


class OutputError(ProviderError):
    """The model answered, but not in the agreed form, and one repair did not help. ``answer`` is
    its text, for operators: it may contain what a user said, so no log and no message has it."""

    def __init__(self, reason: Reason | str, answer: str = "") -> None:
        super().__init__(reason)
        self.answer = answer


class CutOffError(OutputError):
    """The answer was cut off at the model's maximum length: a smaller request may fit."""
