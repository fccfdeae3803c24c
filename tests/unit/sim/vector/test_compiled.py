"""Kernels are compiled, kept on disk where that is possible, and work where it is not."""

import numpy as np
import pytest

from weft.sim.vector.compiled import bare, compiled


def total(numbers):
    found = 0
    for number in numbers:
        found += number
    return found


@pytest.mark.parametrize("how", [compiled, bare])
def test_a_compiled_function_is_the_function(how):
    assert how(total)(np.arange(10)) == 45


@pytest.mark.parametrize("how", [compiled, bare])
def test_without_a_place_for_a_cache_it_is_compiled_all_the_same(how):
    """A function without a file is one that numba cannot keep."""
    names: dict[str, object] = {}
    exec("def double(number):\n    return 2 * number", names)
    assert how(names["double"])(21) == 42
