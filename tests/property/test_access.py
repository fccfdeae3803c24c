"""Access rules held to what they mean, and every parser of the access layer to its one kind of error."""

from contextlib import suppress
from itertools import product

from hypothesis import example, given
from hypothesis import strategies as st

from weft.broker.access import jwt, mosquitto_acl, passwords, rules
from weft.broker.access.api import Challenge, Denied, Granted
from weft.broker.access.hashes import Unreadable, read
from weft.broker.access.patterns import covers, overlaps, split, wrong
from weft.broker.access.scram import ScramServer, fake
from weft.broker.access.settings import JwtSettings
from weft.broker.access.throttle import network
from weft.core.errors import Misuse
from weft.mqtt.scram import ScramClient, ScramError, verifier
from weft.mqtt.topics import matches

ALPHABET = ("a", "b", "", "$s")
DEPTH = 4
TOPICS = ["/".join(levels) for depth in range(1, DEPTH + 1) for levels in product(ALPHABET, repeat=depth)]
TOPICS.remove("")  # a topic has a character at least [MQTT-4.7.3-1]

inner = st.lists(st.sampled_from((*ALPHABET, "+")), min_size=1, max_size=DEPTH - 1)
filters = st.builds(lambda levels, tail: "/".join([*levels, *tail]), inner, st.sampled_from(([], ["#"]))).filter(
    bool
) | st.just("#")


def meant(pattern: str) -> set[str]:
    """The topics up to ``DEPTH`` levels that ``pattern`` matches: enough to tell any two filters below that depth apart."""
    return {topic for topic in TOPICS if matches(pattern, topic)}


@given(filters, filters)
@example("+/#", "#")
@example("a/+/#", "a/#")
@example("#", "$s/#")
def test_covers_is_inclusion_of_topics(pattern, filter_):
    assert covers(split(pattern), split(filter_)) == (meant(filter_) <= meant(pattern))


@given(filters, filters)
@example("+", "+")
@example("a/#", "a")
def test_overlaps_is_a_common_topic(pattern, filter_):
    assert overlaps(split(pattern), split(filter_)) == bool(meant(pattern) & meant(filter_))


lines = st.builds(
    lambda verb, action, pattern: (verb, action, pattern),
    st.sampled_from(("allow", "deny")),
    st.sampled_from(("publish", "subscribe", "read", "write", "all")),
    filters,
)


@given(st.lists(lines, max_size=6), filters, st.booleans())
def test_a_subscription_is_allowed_only_if_each_of_its_topics_is(given_lines, filter_, default_allow):
    """Whoever may subscribe to a filter may subscribe to every topic in it: no filter widens what its topics allow."""
    text = "all\n" + "".join(f"{verb} {action} {pattern}\n" for verb, action, pattern in given_lines)
    view = rules.Rules(rules.parse(text.encode(), "acl"), default_allow).view("u", (), "c")
    if view.may("subscribe", filter_, 0):
        assert all(view.may("subscribe", topic, 0) for topic in meant(filter_))


@given(st.lists(lines, max_size=6), st.sampled_from(TOPICS), st.sampled_from(("publish", "subscribe")), st.booleans())
def test_a_topic_is_allowed_if_a_rule_allows_it_and_none_denies_it(given_lines, topic, action, default_allow):
    text = "all\n" + "".join(f"{verb} {words} {pattern}\n" for verb, words, pattern in given_lines)
    said = {verb for verb, words, pattern in given_lines if action in rules.ACTIONS[words] and matches(pattern, topic)}
    default = default_allow and not (action == "publish" and topic.startswith("$"))
    expected = "deny" not in said and ("allow" in said or default)
    assert (
        rules.Rules(rules.parse(text.encode(), "acl"), default_allow).view(None, (), "c").may(action, topic, 1)
        == expected
    )


names = st.text(st.sampled_from("ab+#/$%uc\0"), max_size=6)


@given(st.sampled_from(("%u/x", "dev/%c/#", "a/x%u-%c", "%c", "%%u/%u", "a/+/%u")), names, names)
def test_a_name_never_widens_a_pattern(pattern, user, client_id):
    """What is allowed for a name has as many levels as the rule says, its wildcards where the rule has them, and no others."""
    levels = rules.fill(pattern, user, client_id, widen=False)
    if levels is None:
        return
    template = split(pattern)
    assert len(levels) == len(template)
    for level, written in zip(levels, template, strict=True):
        assert (level in ("+", "#")) == (written in ("+", "#"))
        assert "/" not in level
    assert not levels[0].startswith("$")


@given(st.sampled_from(("%u/x", "dev/%c/#", "a/x%u-%c", "%c")), names.filter(bool), names.filter(bool))
def test_a_deny_is_not_escaped_by_a_name(pattern, user, client_id):
    """The topic with the names written into it as they are is always denied, but for names that begin with ``$``."""
    topic = pattern.replace("%u", "\1").replace("%c", client_id).replace("\1", user).replace("#", "x").replace("+", "x")
    levels = rules.fill(pattern, user, client_id, widen=True)
    assert levels is not None
    if not topic.startswith("$"):
        assert any(letter in user + client_id for letter in "+#") or covers(levels, split(topic))


words = st.sampled_from(
    [
        "allow",
        "deny",
        "user",
        "role",
        "client",
        "all",
        "read",
        "write",
        "publish,will",
        "a/#",
        "%u",
        "%",
        "qos<=1",
        "qos>=3",
        "#",
        "\t",
    ]
)
texts = st.lists(st.lists(words, max_size=5).map(" ".join), max_size=5).map("\n".join).map(str.encode) | st.binary(
    max_size=200
)


@given(texts)
def test_rules_are_read_or_refused_with_their_line(data):
    try:
        rules.parse(data, "acl")
    except Misuse as error:
        assert str(error).startswith("acl:")  # noqa: PT017 - most inputs raise, and some do not


@given(
    texts
    | st.lists(st.sampled_from(["user x", "topic read a/#", "pattern w/%u", "topic a%c", "user *"]))
    .map("\n".join)
    .map(str.encode)
)
def test_what_is_converted_from_mosquitto_can_be_read(data):
    try:
        text = mosquitto_acl.convert(data, "acl")
    except Misuse:
        return
    rules.parse(text.encode(), "converted")


PIECES = ["alice", ":", "$", "argon2id", "scrypt", "7", "6", "v=19", "m=64,t=1,p=1", "ln=4,r=8,p=1", "AAAAAAAAAAAAAAAAAAAAAA==",
          "SCRAM-SHA-256", "4096", "\n", "#", "-1", "é"]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_a_password_file_is_read_or_refused_with_its_line(text):
    try:
        passwords.parse(text.encode(), "users")
    except Misuse as error:
        assert str(error).startswith("users:")  # noqa: PT017 - as above
    with suppress(Unreadable):
        read(text)


ONE = jwt.JwtVerifier(JwtSettings(algorithms=["HS256"], secret_file="s"), jwt.secret_key(b"x" * 32, "s", ["HS256"]))
parts = st.sampled_from(
    [b"eyJhbGciOiJIUzI1NiJ9", b"e30", b"bnVsbA", b"W10", b"", b"=", b"eyJhbGciOiJub25lIn0"]
) | st.binary(max_size=30)


@given(st.lists(parts, max_size=4).map(b".".join))
def test_a_token_is_refused_and_nothing_else_happens(text):
    try:
        ONE.check(ONE.open(text), 0.0)
    except jwt.JwtError:
        return
    raise AssertionError("nobody signed this")


KNOWN = verifier("SCRAM-SHA-256", "pencil", b"salt" * 4, 4096)
FIRST = b"n,,n=user,r=abc"
messages = st.binary(max_size=60) | st.sampled_from(
    [FIRST, b"n,,", b"c=biws,r=abcN,p=AAAA", b"c=biws,r=abcN", b"y,,n=x,r=a"]
)


@given(st.lists(messages, max_size=4))
def test_scram_denies_whatever_is_no_proof(sent):
    server = ScramServer(
        "SCRAM-SHA-256",
        lambda now, user: KNOWN if user == "user" else fake("SCRAM-SHA-256", user, 4096, b"s"),
        lambda now, user, is_right: Granted(user) if is_right else Denied(0x86, "wrong"),  # type: ignore[arg-type]
        "N",
    )
    for data in sent:
        assert isinstance(server.step(0.0, data), Challenge | Denied)


@given(st.binary(max_size=80) | st.sampled_from([b"r=abcN,s=AAAA,i=4096", b"v=AAAA", b"r=abcN,s=,i=4096"]))
def test_a_scram_client_answers_or_raises_its_one_error(data):
    client = ScramClient("SCRAM-SHA-256", "user", "pencil", "abc")
    try:
        client.answer(data)
        client.finish(data)
    except ScramError:
        pass


@given(st.text(max_size=40) | st.ip_addresses().map(str))
def test_every_address_has_a_network(address):
    assert isinstance(network(address), str)
    assert network(network(address)) == network(address) or "/" in network(address)


@given(filters)
def test_all_filters_are_patterns(pattern):
    assert not wrong(pattern)
