"""The access rules: a file of allow and deny lines, and what they say about one client.

    # who                      what, on which topics
    all
        allow read   public/#
    user alice
        allow readwrite home/#
        deny  write  home/alarm/#
    role ops
        allow all #
    client dev-*
        allow write  devices/%c/up qos<=1

A section says for whom the lines below it are: ``all``, ``anonymous``, ``authenticated``, ``user NAME``, ``role NAME``,
``client NAME``; ``*`` in a name stands for any characters. Actions: ``publish will retain subscribe share``, with
commas; ``write`` is the first three, ``read`` the last two, ``readwrite`` and ``all`` everything. ``%u`` is the user,
``%c`` the client id, ``%%`` a percent sign.

A deny goes before every allow, wherever it stands (docs/adr/0011); where neither speaks, the default does. A
subscription is asked about every topic that it could match: it is allowed if one allow rule covers all of them and no
deny rule touches any.
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Sequence

import msgspec

from weft.broker.access.api import PUBLISH, RETAIN, SHARE, SUBSCRIBE, WILL
from weft.broker.access.patterns import covers, overlaps, split, unshared, wrong
from weft.core.errors import Misuse

RULES_MAX = 1_000_000
VIEWS_MAX = 10_000
"""Clients whose rules are kept at hand."""
ANSWERS_MAX = 20_000
"""Answers kept at hand, of all clients together; those about long topics are not."""
ANSWER_CHARACTERS_MAX = 256

WRITE, READ = (PUBLISH, WILL, RETAIN), (SUBSCRIBE, SHARE)
ACTIONS: dict[str, tuple[str, ...]] = {
    **{action: (action,) for action in (*WRITE, *READ)},
    "write": WRITE,
    "read": READ,
    "readwrite": WRITE + READ,
    "all": WRITE + READ,
}
QOS = re.compile(r"\s+qos\s*(<=|>=)\s*([0-2])$")
PLACEHOLDER = re.compile(r"%[uc%]")
EVERYBODY, ANONYMOUS, AUTHENTICATED = "all", "anonymous", "authenticated"


class Rule(msgspec.Struct, frozen=True):
    """``pattern`` still has its placeholders. It applies where ``qos_min`` ≤ QoS ≤ ``qos_max``."""

    is_allow: bool
    actions: tuple[str, ...]
    pattern: str
    qos_min: int = 0
    qos_max: int = 2


class Section(msgspec.Struct):
    kind: str
    name: str
    rules: list[Rule]


class Rules:
    """A file of rules as it was read, indexed by whom they are for. Immutable but for its memory of views."""

    def __init__(self, sections: Sequence[Section], default_allow: bool) -> None:
        self._default_allow = default_allow
        self._exact: dict[tuple[str, str], list[Rule]] = {}
        self._loose: list[tuple[str, list[str], list[Rule]]] = []
        for section in sections:
            if "*" in section.name:
                self._loose.append((section.kind, section.name.split("*"), section.rules))
            else:
                self._exact.setdefault((section.kind, section.name), []).extend(section.rules)
        self._views: OrderedDict[tuple[str | None, tuple[str, ...], str], View] = OrderedDict()
        self._answers: dict[tuple[View, str, str, int], bool] = {}

    def view(self, user: str | None, roles: tuple[str, ...], client_id: str) -> "View":
        """The rules for one client, its placeholders filled in."""
        key = (user, roles, client_id)
        view = self._views.get(key)
        if view is None:
            while len(self._views) >= VIEWS_MAX:
                self._views.popitem(last=False)
            rules = self._collect(user, roles, client_id)
            view = self._views[key] = View(rules, user, client_id, self._default_allow, self._answers)
        else:
            self._views.move_to_end(key)
        return view

    def _collect(self, user: str | None, roles: tuple[str, ...], client_id: str) -> list[Rule]:
        names = [(EVERYBODY, ""), ("client", client_id), *(("role", role) for role in roles)]
        names += [(ANONYMOUS, "")] if user is None else [(AUTHENTICATED, ""), ("user", user)]
        found = [rule for name in dict.fromkeys(names) for rule in self._exact.get(name, ())]
        for kind, parts, rules in self._loose:
            if any(_fits(parts, name) for each, name in names if each == kind):
                found += rules
        return found


class View:
    """What one client may do."""

    def __init__(
        self,
        rules: Sequence[Rule],
        user: str | None,
        client_id: str,
        default_allow: bool,
        answers: "dict[tuple[View, str, str, int], bool]",
    ) -> None:
        self._default_allow = default_allow
        self._denies: list[tuple[Rule, list[str]]] = []
        self._allows: list[tuple[Rule, list[str]]] = []
        for rule in rules:
            levels = fill(rule.pattern, user, client_id, widen=not rule.is_allow)
            if levels is not None:
                (self._allows if rule.is_allow else self._denies).append((rule, levels))
        self._answers = answers

    def may(self, action: str, topic: str, qos: int) -> bool:
        if len(topic) > ANSWER_CHARACTERS_MAX:
            return self._decide(action, topic, qos)
        key = (self, action, topic, qos)
        answer = self._answers.get(key)
        if answer is None:
            if len(self._answers) >= ANSWERS_MAX:
                self._answers.clear()
            answer = self._answers[key] = self._decide(action, topic, qos)
        return answer

    def denies(self, action: str, topic: str, qos: int) -> bool:
        """Does a deny rule say no? Then nobody else is asked."""
        return _any(self._denies, overlaps, action, split(unshared(topic) if action in READ else topic), qos)

    def _decide(self, action: str, topic: str, qos: int) -> bool:
        if self.denies(action, topic, qos):
            return False
        asked = split(unshared(topic) if action in READ else topic)
        if _any(self._allows, covers, action, asked, qos):
            return True
        # What begins with $ is the broker's own: nobody writes there because nothing was said (§4.7.2).
        return self._default_allow and not (action in WRITE and topic.startswith("$"))


def _any(
    rules: Sequence[tuple[Rule, list[str]]],
    holds: Callable[[list[str], list[str]], bool],
    action: str,
    asked: list[str],
    qos: int,
) -> bool:
    return any(
        action in rule.actions and rule.qos_min <= qos <= rule.qos_max and holds(levels, asked)
        for rule, levels in rules
    )


def fill(pattern: str, user: str | None, client_id: str, widen: bool) -> list[str] | None:
    """``pattern`` with its placeholders filled in, as levels; None: it cannot match.

    A value is a name, never syntax: one with ``+``, ``#`` or ``/``, or that begins with ``$`` where a topic begins,
    would make the pattern mean something else. An allow rule then matches nothing. A deny rule must not be escaped by
    choosing a name: it then (``widen``) matches everything from that level on. Who has no user name is not meant by a
    rule about ``%u``.
    """
    values = {"%u": user or "", "%c": client_id, "%%": "%"}
    levels: list[str] = []
    for index, level in enumerate(split(pattern)):
        for found in PLACEHOLDER.findall(level):
            value = values[found]
            if not value:
                return None
            if found != "%%" and any(letter in value for letter in "+#/\0"):
                return [*levels, "#"] if widen else None
            if found != "%%" and index == 0 and value.startswith("$") and not widen:
                return None
        levels.append(PLACEHOLDER.sub(lambda match: values[match.group()], level))
    return levels


# ------------------------------------------------------------------------------------------------------- the file


def parse(data: bytes, path: str) -> list[Section]:
    """The file's sections; raises ``Misuse`` with ``file:line: what``."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise Misuse(f"{path}:{data.count(10, 0, error.start) + 1}: not UTF-8") from None
    sections: list[Section] = []
    count = 0
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        word, _, rest = line.partition(" ")
        word, rest = (word, rest.strip()) if "\t" not in word else (line.split()[0], line.split(None, 1)[1])
        try:
            if word not in {"allow", "deny"}:
                sections.append(_section(word, rest))
                continue
            count += 1
            if not sections:
                raise Misuse("a rule before the first section: begin with 'all', 'user NAME', 'role NAME', …")
            if count > RULES_MAX:
                raise Misuse(f"more than {RULES_MAX} rules")
            sections[-1].rules.append(_rule(word == "allow", rest))
        except Misuse as error:
            raise Misuse(f"{path}:{number}: {error}") from None
    return sections


def _section(word: str, name: str) -> Section:
    if word in {EVERYBODY, ANONYMOUS, AUTHENTICATED}:
        if name:
            raise Misuse(f"'{word}' stands alone on its line")
        return Section(word, "", [])
    if word in {"user", "role", "client"}:
        if not name:
            raise Misuse(f"'{word}' needs a name")
        return Section(word, name, [])
    raise Misuse(
        f"'{word[:40]}' is neither a rule (allow, deny) nor a section (all, anonymous, authenticated, user, role, client)"
    )


def _rule(is_allow: bool, text: str) -> Rule:
    words = text.split(None, 1)
    if len(words) < 2:
        raise Misuse("a rule is 'allow|deny ACTIONS PATTERN [qos<=N]'")
    names, pattern = words
    actions: list[str] = []
    for name in names.split(","):
        if name not in ACTIONS:
            raise Misuse(f"'{name[:40]}' is no action; known: {', '.join(ACTIONS)}")
        actions += ACTIONS[name]
    qos_min, qos_max = 0, 2
    bound = QOS.search(pattern)
    if bound is not None:
        pattern = pattern[: bound.start()]
        # The other way round, a client would escape a deny, or earn an allow, by asking for another QoS.
        if bound.group(1) != ("<=" if is_allow else ">="):
            raise Misuse("an allow takes 'qos<=N', a deny 'qos>=N'")
        qos_min, qos_max = (0, int(bound.group(2))) if is_allow else (int(bound.group(2)), 2)
    elif re.search(r"\sqos\s*[<>=]", pattern):
        raise Misuse("the bound is 'qos<=N' or 'qos>=N' with N from 0 to 2")
    fault = wrong(pattern)
    if fault:
        raise Misuse(fault)
    for match in re.finditer(r"%(.?)", pattern.replace("%%", "")):
        if match.group(1) not in {"u", "c"}:
            raise Misuse("'%' is followed by u (user), c (client id) or another %")
    return Rule(is_allow, tuple(dict.fromkeys(actions)), pattern, qos_min, qos_max)


def _fits(parts: Sequence[str], name: str) -> bool:
    """Does ``name`` consist of ``parts``, in order, with anything between them?"""
    first, *middle, last = parts
    if len(name) < len(first) + len(last) or not (name.startswith(first) and name.endswith(last)):
        return False
    place, end = len(first), len(name) - len(last)
    for part in middle:
        found = name.find(part, place, end)
        if found < 0:
            return False
        place = found + len(part)
    return True
