"""The exception of the package."""

from __future__ import annotations

__all__ = ["Error"]


class Error(Exception):
    """A call that failed. Its text says why, and what to do.

    ``code`` is the name of the kind, as in C: ``GOAL_ERR_BUFFER``, ``GOAL_ERR_RANK``, ...
    (``goal.ERROR_CODES`` has all of them).
    """

    code: str

    def __init__(self, text: str, code: str = "GOAL_ERR_ARG") -> None:
        super().__init__(text)
        self.code = code

    def __reduce__(self) -> tuple[type[Error], tuple[str, str]]:
        return type(self), (str(self), self.code)
