"""The one way in which this package compiles a kernel: without the interpreter, without a thread, kept on disk.

numba's cache notices that a kernel's own file has changed, and no other: so kernels that call each other stand in one file.
The exception is ``draws``, whose arithmetic is fixed for good by ``weft.core.rand``.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


_OPTIONS: dict[str, Any] = {"cache": True}
_BARE: dict[str, Any] = {"_nrt": False}


def compiled(function: F) -> F:
    """``function``, compiled at its first call with arguments of a kind."""
    return _compiled(function, _OPTIONS)


def bare(function: F) -> F:
    """The same for kernels that allocate nothing: numba then counts no references, which costs more than they do."""
    return _compiled(function, _OPTIONS | _BARE)


def _compiled(function: F, options: dict[str, Any]) -> F:
    try:
        return cast("F", numba.njit(**options)(function))
    except RuntimeError:  # neither beside the file nor at home is there a place to keep it: compile in each process
        return cast("F", numba.njit(**{**options, "cache": False})(function))
