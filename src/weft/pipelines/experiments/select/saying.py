"""Statements of SELECT as claims: most of its curves are lost, and what its text says of them is what can be judged."""

from collections.abc import Callable

from weft.pipelines.experiments.claims import Claim
from weft.pipelines.experiments.experiment import Tables


def said(
    source: str, what: str, paper: str, ours: Callable[[Tables], float], holds: Callable[[float], bool], why: str = ""
) -> Claim:
    return Claim(what=what, source=source, paper=paper, ours=ours, holds=holds, why=why)
