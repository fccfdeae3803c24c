"""How fast one client may publish: two buckets of tokens, messages and bytes, and a pause instead of a loss."""


class Quota:
    """In: what was received. Out: when reading may go on. A burst of one second's worth is free."""

    __slots__ = ("_at", "_bytes", "_bytes_rate", "_messages", "_messages_rate")

    def __init__(self, now: float, messages_per_second: int, bytes_per_second: int) -> None:
        self._at = now
        self._messages_rate = messages_per_second
        self._bytes_rate = bytes_per_second
        self._messages = float(messages_per_second)
        self._bytes = float(bytes_per_second)

    def take(self, now: float, messages: int, size: int) -> float:
        """Seconds for which reading has to pause; 0: go on."""
        passed, self._at = now - self._at, now
        self._messages = min(self._messages_rate, self._messages + passed * self._messages_rate) - messages
        self._bytes = min(self._bytes_rate, self._bytes + passed * self._bytes_rate) - size
        pause = 0.0
        if self._messages_rate and self._messages < 0:
            pause = -self._messages / self._messages_rate
        if self._bytes_rate and self._bytes < 0:
            pause = max(pause, -self._bytes / self._bytes_rate)
        return pause
