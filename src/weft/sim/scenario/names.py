"""Keys, pointers and ranges as people say them: for stories, transcripts and reports of scenarios.

demo@kyoto/3    broker 3's key on topic demo in cluster kyoto; 17@kyoto/3 is a number key
demo@kyoto/3'2  its second life (a pointer's incarnation; the run number, if any, stands before a dot)
"""

from typing import Any

from weft.overlay.api import Ref
from weft.overlay.keys import EVERYTHING, LEVEL_SEPARATOR, Key, KeyRange, Segment
from weft.overlay.local import INCARNATION_STEPS

_SEGMENTS = {0: "pub", 1: "alm", 2: "ofm", 3: "share"}


def key_name(key: Key) -> str:
    literals = key.literals.replace(LEVEL_SEPARATOR, "/")
    topic = str(int(literals)) if literals.isdecimal() and len(literals) == 12 else literals
    return f"{topic}@{'/'.join((*key.cluster, str(key.broker)))}"


def short(value: Any) -> str | None:
    """For ``brief``: what the overlays are about, in a few letters; None for everything else."""
    if isinstance(value, Key):
        return key_name(value)
    if isinstance(value, Ref):
        run, life = divmod(value.incarnation, INCARNATION_STEPS)
        return f"{key_name(value.key)}'{f'{run}.' if run else ''}{life}"
    if isinstance(value, Segment):
        return _SEGMENTS.get(value.order, str(value.order)) + (f":{value.group}" if value.group else "")
    if isinstance(value, KeyRange):
        return "[all]" if value == EVERYTHING else f"[{key_name(value.low)} … {key_name(value.high)})"
    return None
