"""The other way to compile: rules that stand in ``weft.overlay``, as they are, and kernels that call them.

numba's cache looks at a kernel's own file alone, so a kernel with somebody else's rule in it is compiled anew in each process:
about a second, against a rule that could go stale.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def borrowed(function: F) -> F:
    """``function``, compiled at its first call with arguments of a kind, and not kept."""
    return cast("F", numba.njit(function))
