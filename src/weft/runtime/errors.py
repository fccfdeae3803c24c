"""What stops a broker from starting, for the exit code and the one line that a user sees."""


class PortTaken(Exception):
    """Somebody else listens where a listener should."""

    def __init__(self, url: str, where: str) -> None:
        super().__init__(f"{url}: {where} is taken by another process; stop it, or choose another port (--listen)")
