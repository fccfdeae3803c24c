"""What finger tables tell each other."""

import msgspec

from weft.core.machine import Message
from weft.overlay.api import Ref
from weft.overlay.keys import Key


class Update(Message, frozen=True, gc=False):
    """``source`` has ``at`` as FFT[level] (``forward``) or BFT[level], and lends its aggregate for the opposite finger.

    ``values`` is None above the levels at which values travel: nothing is known then, which is not "nobody".
    """

    at: Ref
    source: Ref
    level: int
    forward: bool
    number: int
    values: dict[str, float] | None


class UpdateAck(Message, frozen=True, gc=False):
    """The aggregate of ``level`` seen from ``at``, its next level's node, and ``source``'s left neighbours as backups."""

    at: Ref
    source: Ref
    number: int
    values: dict[str, float] | None
    next: Ref | None
    backups: tuple[Ref, ...]


class Replace(Message, frozen=True, gc=False):
    """``old`` has left; ``new``, its left neighbour, stands in its place."""

    at: Ref
    old: Ref
    new: Ref


class Handover(Message, frozen=True, gc=False):
    """The job on a leaving node's SetR: these point at ``old``."""

    old: Ref
    pointers: tuple[Ref, ...]


class UpdateDue(msgspec.Struct, frozen=True, gc=False):
    """Timer: refresh the next level."""

    key: Key


class UpdateLate(msgspec.Struct, frozen=True, gc=False):
    """Timer: Update ``number`` is unanswered."""

    key: Key
    number: int
