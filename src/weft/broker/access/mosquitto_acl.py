"""mosquitto's ``acl_file`` (mosquitto.conf(5)) as rules of ours.

The one difference in meaning: mosquitto lets anybody subscribe and filters what is delivered; here a subscription that
could match what is not allowed is refused. Its password files need no conversion: ``hashes`` checks its ``$6$`` and
``$7$`` lines.
"""

from weft.broker.access.patterns import wrong
from weft.core.errors import Misuse

ACCESS = {"read": "allow read", "write": "allow write", "readwrite": "allow readwrite", "deny": "deny all"}


def convert(data: bytes, path: str) -> str:
    """The same rules as text for ``rules.parse``; raises ``Misuse`` with ``file:line: what``."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise Misuse(f"{path}:{data.count(10, 0, error.start) + 1}: not UTF-8") from None
    sections: dict[str, list[str]] = {}
    section = "anonymous"  # what stands before the first user is for clients without one
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        word, *more = line.split(None, 1)
        rest = more[0].strip() if more else ""
        if word == "user" and rest:
            if "*" in rest:
                raise Misuse(f"{path}:{number}: a user with '*' in the name, which would mean any name here")
            section = f"user {rest}"
            sections.setdefault(section, [])
        elif word in {"topic", "pattern"} and rest:
            where = section if word == "topic" else "all"
            sections.setdefault(where, []).append(_rule(rest, word == "pattern", f"{path}:{number}"))
        else:
            raise Misuse(f"{path}:{number}: neither 'user NAME' nor 'topic|pattern [read|write|readwrite|deny] TOPIC'")
    return "\n".join(
        line for name, rules in sections.items() for line in (name, *(f"    {rule}" for rule in rules), "")
    )


def _rule(rest: str, is_pattern: bool, where: str) -> str:
    first, *more = rest.split(None, 1)
    access, topic = (ACCESS[first], more[0].strip()) if more and first in ACCESS else (ACCESS["readwrite"], rest)
    if not is_pattern:
        topic = topic.replace("%", "%%")  # mosquitto fills in placeholders in pattern lines only
    else:
        topic = "%".join(
            part if part[:1] in {"u", "c"} or not index else "%" + part for index, part in enumerate(topic.split("%"))
        )
    fault = wrong(topic)
    if fault:
        raise Misuse(f"{where}: {fault}")
    return f"{access} {topic}"
