"""A bound was hit: which one, so that it can be counted under the name that the operator knows."""

from weft.mqtt.codec.reasons import Reason, Refused


class LimitHit(Refused):
    """``limit`` is the bound's name in ``settings.Limits``."""

    def __init__(self, reason: Reason, limit: str, text: str) -> None:
        super().__init__(reason, text)
        self.limit = limit
