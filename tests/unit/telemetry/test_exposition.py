"""What /metrics says, read back by a strict parser that knows the format's rules and nothing of weft."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.telemetry import counters, gauges, histograms
from weft.telemetry.counters import Counters
from weft.telemetry.exposition import escape_help, escape_value, label, number, render, wants_openmetrics
from weft.telemetry.gauges import Gauges
from weft.telemetry.histograms import Histogram, Histograms

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(rf"({NAME})(\{{.*\}})? (NaN|[+-]Inf|[+-]?[0-9.]+(?:e[+-]?[0-9]+)?)")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(?:,(?!$)|$)')
UNESCAPED = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}


def unescape(text: str) -> str:
    return re.sub(r"\\[\\\"n]", lambda found: UNESCAPED[found.group()], text)


def parse_labels(text: str) -> dict[str, str]:
    labels, at = {}, 0
    while at < len(text):
        found = LABEL.match(text, at)
        assert found, f"bad labels: {text!r}"
        assert found.group(1) not in labels, "a label stands once"
        labels[found.group(1)] = unescape(found.group(2))
        at = found.end()
    return labels


def parse(text: str, is_open: bool = False) -> dict[str, tuple[str, str, list[tuple[str, dict[str, str], float]]]]:
    """Family → (type, help, samples); anything that the format forbids fails."""
    assert text.endswith("\n")
    lines = text.split("\n")[:-1]
    if is_open:
        assert lines.pop() == "# EOF"
    families: dict[str, tuple[str, str, list[tuple[str, dict[str, str], float]]]] = {}
    help_text: tuple[str, str] | None = None
    family = ""
    for line in lines:
        if found := re.fullmatch(rf"# HELP ({NAME}) (.*)", line):
            assert help_text is None, "a HELP without its TYPE"
            help_text = found.group(1), unescape(found.group(2))
        elif found := re.fullmatch(rf"# TYPE ({NAME}) (counter|gauge|histogram)", line):
            family = found.group(1)
            assert help_text is not None, "a TYPE without a HELP"
            assert help_text[0] == family, "HELP and TYPE are of one family"
            assert family not in families, "a family stands once"
            families[family] = (found.group(2), help_text[1], [])
            help_text = None
        else:
            found = SAMPLE.fullmatch(line)
            assert found, f"not a sample: {line!r}"
            kind, _, samples = families[family]
            name, labels = found.group(1), parse_labels((found.group(2) or "{}")[1:-1])
            suffixes = {
                "gauge": ("",),
                "counter": ("_total",) if is_open else ("",),
                "histogram": ("_bucket", "_sum", "_count"),
            }
            assert name in {family + suffix for suffix in suffixes[kind]}, f"{name} stands under {family}"
            assert (name, labels) not in [(other, seen) for other, seen, _ in samples], "a sample stands once"
            samples.append((name, labels, float(found.group(3).replace("Inf", "inf"))))
    assert help_text is None
    return families


@pytest.mark.parametrize("is_open", [False, True])
def test_each_counter_has_its_help_and_value(is_open):
    counted = Counters()
    counted["weft_connections_opened_total"] = 7
    families = parse(render(counted, {}, {}, is_open), is_open)
    assert len(families) == len(counters.TABLE)
    name = "weft_connections_opened" if is_open else "weft_connections_opened_total"
    assert families[name] == ("counter", "Connections accepted", [("weft_connections_opened_total", {}, 7.0)])


def test_gauges_are_gauges_but_for_those_that_only_rise():
    gauged = Gauges()
    for position, name in enumerate(gauges.TABLE):
        gauged.say(name, position)
    families = parse(render({}, gauged, {}))
    assert {name for name, (kind, _, _) in families.items() if kind == "counter"} == gauges.COUNTERS
    assert {name: text for name, (_, text, _) in families.items()} == gauges.TABLE


def test_a_gauge_that_no_table_names_is_our_mistake():
    with pytest.raises(AssertionError):
        Gauges().say("weft_nonsense", 1)


def test_a_name_is_in_one_table_only():
    names = [*counters.TABLE, *gauges.TABLE, *histograms.TABLE]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(NAME, name) for name in names)
    assert all(name.endswith("_total") for name in counters.TABLE)


def test_buckets_are_summed_up_and_end_with_everything():
    histogram = Histogram((0.1, 1.0))
    for value in (0.05, 0.1, 0.5, 2.0, 3.0):
        histogram.observe(value)
    kind, _, samples = parse(render({}, {}, {"weft_store_commit_seconds": histogram}))["weft_store_commit_seconds"]
    assert kind == "histogram"
    assert [(labels["le"], value) for name, labels, value in samples if name.endswith("_bucket")] == [
        ("0.1", 2.0),
        ("1.0", 3.0),
        ("+Inf", 5.0),
    ]
    assert samples[-2:] == [("weft_store_commit_seconds_sum", {}, 5.65), ("weft_store_commit_seconds_count", {}, 5.0)]


def test_a_family_with_several_labels_is_written_in_one_piece():
    gauged = {"weft_build_info" + label(version="1"): 1, "weft_ready": 1, "weft_build_info" + label(version="2"): 1}
    assert [labels for _, labels, _ in parse(render({}, gauged, {}))["weft_build_info"][2]] == [
        {"version": "1"},
        {"version": "2"},
    ]


@given(st.text())
def test_whatever_a_label_holds_is_read_back(text):
    assert parse_labels(label(name=text)[1:-1]) == {"name": text}
    assert "\n" not in escape_value(text)


@given(st.text(), st.booleans())
def test_whatever_a_help_text_holds_stays_on_its_line(text, is_open):
    escaped = escape_help(text, is_open)
    assert "\n" not in escaped
    assert unescape(escaped) == text


@given(st.floats() | st.integers(min_value=-(10**18), max_value=10**18))
def test_whatever_a_number_is_it_is_read_back(value):
    written = number(value)
    assert SAMPLE.fullmatch(f"a {written}")
    read = float(written.replace("Inf", "inf"))
    assert read == float(value) or (math.isnan(read) and math.isnan(value))


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("", False),
        ("*/*", False),
        ("text/plain", False),
        ("application/openmetrics-text", True),
        ("application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75", True),
        ("application/openmetrics-text; version=1.0.0; q=0.5, text/plain;version=0.0.4;q=0.4, */*;q=0.1", True),
        ("application/openmetrics-text;q=0.3, text/plain;q=0.9", False),
        ("application/openmetrics-text;q=0", False),
        ("application/openmetrics-text;q=nonsense", False),
        (",,;=,", False),
    ],
)
def test_openmetrics_is_for_whoever_prefers_it(accept, expected):
    assert wants_openmetrics(accept) is expected


def test_all_of_it_is_valid_in_both_formats():
    gauged = Gauges()
    for name in gauges.TABLE:
        gauged.say(name, 0.5)
    for is_open in (False, True):
        families = parse(render(Counters(), gauged, Histograms(), is_open), is_open)
        assert len(families) == len(counters.TABLE) + len(gauges.TABLE) + len(histograms.TABLE)
