"""Every message class of the overlays has a number, except those of the baselines, and is its own after a journey.

The classes are found by walking the package, so that one added later is not forgotten.
"""

import importlib
import pkgutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import inspect

import weft.overlay
from weft.core.ids import NodeId
from weft.core.machine import Message
from weft.node.wire.codec import Codec
from weft.node.wire.vocabulary import OVERLAY, may_drop
from weft.overlay.api import Ref
from weft.overlay.keys import EVERYTHING, Key, KeyRange, Segment, number_key
from weft.overlay.ring.messages import Seq
from weft.overlay.spread.messages import Asked, Part, Scatter

BASELINES = {"scribe", "bayeux", "can", "shg", "rendezvous"}
CODEC = Codec(OVERLAY)

NUMBERS = st.integers(-(1 << 63), (1 << 63) - 1)
TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
KEYS = st.builds(
    Key, TEXT, TEXT, st.builds(Segment, NUMBERS, TEXT), NUMBERS, st.lists(TEXT, max_size=3).map(tuple), NUMBERS
)
PLAIN = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.floats(allow_nan=False) | TEXT | st.binary(max_size=8),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
ANYTHING = {Key: KEYS, KeyRange: st.builds(KeyRange, KEYS, KEYS), Seq: st.builds(Seq, NUMBERS, NUMBERS)}


def walked() -> dict[type[Message], str]:
    """Message class → part of the overlay that defines it."""
    found: dict[type[Message], str] = {}
    for module in pkgutil.walk_packages(weft.overlay.__path__, "weft.overlay."):
        for each in vars(importlib.import_module(module.name)).values():
            if isinstance(each, type) and issubclass(each, Message) and each is not Message:
                found[each] = each.__module__.split(".")[2]
    return found


SCALARS = {
    inspect.IntType: NUMBERS,
    inspect.StrType: TEXT,
    inspect.FloatType: st.floats(allow_nan=False),
    inspect.BoolType: st.booleans(),
    inspect.BytesType: st.binary(max_size=8),
    inspect.NoneType: st.none(),
    inspect.AnyType: PLAIN,
}


def messages(kind: type[Message], bodies: st.SearchStrategy) -> st.SearchStrategy:
    """Any message of ``kind``; those inside it are ``bodies``, values of type Any are plain data."""

    def strategy(info: inspect.Type) -> st.SearchStrategy:
        match info:
            case inspect.StructType(cls=cls) if cls is Message:
                return bodies
            case inspect.StructType(cls=cls, fields=fields):
                return st.tuples(*[strategy(field.type) for field in fields]).map(lambda values: cls(*values))
            case inspect.NamedTupleType(cls=cls):
                return ANYTHING[cls]
            case inspect.EnumType(cls=cls):
                return st.sampled_from(list(cls))
            case inspect.UnionType(types=types):
                return st.one_of([strategy(each) for each in types])
            case inspect.VarTupleType(item_type=item):
                return st.lists(strategy(item), max_size=3).map(tuple)
            case inspect.DictType(key_type=key, value_type=value):
                return st.dictionaries(strategy(key), strategy(value), max_size=3)
        return SCALARS[type(info)]

    return strategy(inspect.type_info(kind))


SIMPLE = messages(OVERLAY[2], st.nothing()) | messages(OVERLAY[35], st.nothing())


def test_every_message_of_a_real_overlay_has_a_number():
    classes = walked()
    assert set(classes.values()) > BASELINES, "the walk has seen all"
    assert {kind for kind, part in classes.items() if part not in BASELINES} == set(OVERLAY.values())


def test_no_two_classes_share_a_number_or_a_number_two_bytes():
    assert len(set(OVERLAY.values())) == len(OVERLAY)
    assert all(0 < number < 256 for number in OVERLAY)


@pytest.mark.parametrize("kind", OVERLAY.values(), ids=lambda kind: kind.__name__)
def test_it_comes_out_as_it_went_in(kind):
    @settings(max_examples=30)
    @given(messages(kind, SIMPLE))
    def journey(message):
        again = CODEC.decode(CODEC.encode(message))
        assert again == message
        assert type(again) is kind
        assert repr(again) == repr(message)  # the same types inside, too

    journey()


@pytest.mark.parametrize(("change", "droppable"), [({}, True), ({"ticket": 5}, False), ({"careful": True}, False)])
def test_what_may_be_dropped_is_a_query_that_nobody_waits_for(change, droppable):
    ref = Ref(number_key(1, NodeId(2)), NodeId(2), 1)
    fields = {"asked": Asked(NodeId(1), 7, b"x", "split"), "parts": (Part(ref, EVERYTHING, 0),), "hops": 1, **change}
    assert may_drop(Scatter(**fields)) is droppable
    assert not may_drop(OVERLAY[2](1))
