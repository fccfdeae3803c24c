"""The one way in which this package compiles a kernel: without the interpreter, without a thread, kept on disk.

numba's cache notices that a kernel's own file has changed, and no other: so kernels that call each other stand in one file.
The exception is ``draws``, whose arithmetic is fixed for good by ``weft.core.rand``.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """``function``, compiled at its first call with arguments of a kind."""
    return cast("F", numba.njit(cache=True)(function))


_BARE: dict[str, Any] = {"cache": True, "_nrt": False}


def bare(function: F) -> F:
    """The same for kernels that allocate nothing: numba then counts no references, which costs more than they do."""
    return cast("F", numba.njit(**_BARE)(function))
