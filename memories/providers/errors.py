"""What can go wrong with a model, in two kinds: worth another try later, or not."""

from accounts.reasons import CodedError, Reason


class ProviderError(CodedError):
    """A model call failed. Messages never hold chat text or keys."""


class TransientError(ProviderError):
    """Rate limit, overload, timeout, lost connection. ``retry_after`` is in seconds."""

    def __init__(self, reason: Reason | str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class PermanentError(ProviderError):
    """Wrong key, unknown model, refused request: another try gives the same answer."""


class RefusedError(PermanentError):
    """The server refuses whatever is asked: a wrong key, an unknown model or address, a page of
    a proxy. No fault of the work, which waits until somebody mends it."""

    opens = False  # whether it is the first since the server last answered


class OutputError(ProviderError):
    """The model answered, but not in the agreed form, and one repair did not mend it. ``answer``
    is what came, for operators: it may hold what a user said, so no log and no message has it."""

    def __init__(self, reason: Reason | str, answer: str = "") -> None:
        super().__init__(reason)
        self.answer = answer


class CutOffError(OutputError):
    """The answer ended at the length that the model may write: less may be asked for."""
