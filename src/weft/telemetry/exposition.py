"""Counters, gauges and histograms as text: the Prometheus format 0.0.4, and OpenMetrics 1.0 for whoever accepts it.

Both write a family as HELP, TYPE and samples. They differ in this: OpenMetrics names a counter's family without ``_total``,
escapes quotes in help texts too, and ends with ``# EOF``, so that a cut answer is noticed.
"""

from collections.abc import Iterator, Mapping

from weft.telemetry import counters, gauges, histograms
from weft.telemetry.histograms import Histogram

PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"

NUMBERS_EXACT = 1 << 53
"""Up to here a float holds an integer exactly, and it is written without a point."""


def wants_openmetrics(accept: str) -> bool:
    """Whether an Accept header prefers OpenMetrics: it is named, and not ranked below plain text (RFC 9110 §12.5.1)."""
    ranks = dict(_rank(part) for part in accept.split(",") if part.strip())
    ours = ranks.get("application/openmetrics-text", 0.0)
    return ours > 0 and ours >= ranks.get("text/plain", 0.0)


def _rank(part: str) -> tuple[str, float]:
    kind, *parameters = (piece.strip() for piece in part.split(";"))
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "q":
            try:
                return kind.lower(), min(1.0, max(0.0, float(value)))
            except ValueError:
                return kind.lower(), 0.0
    return kind.lower(), 1.0


def label(**labels: str) -> str:
    """``{name="value",…}``: what is appended to a metric's name."""
    return "{" + ",".join(f'{name}="{escape_value(value)}"' for name, value in labels.items()) + "}"


def escape_value(text: str) -> str:
    """A label's value: backslash, quote and line feed are escaped."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def escape_help(text: str, is_open: bool) -> str:
    """A help text: backslash and line feed; in OpenMetrics the quote as well."""
    text = text.replace("\\", "\\\\").replace("\n", "\\n")
    return text.replace('"', '\\"') if is_open else text


def number(value: float) -> str:
    """A sample's value."""
    if value != value:  # noqa: PLR0124 - only NaN differs from itself
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "+Inf" if value > 0 else "-Inf"
    if value == int(value) and abs(value) < NUMBERS_EXACT:
        return str(int(value))
    return repr(value)


def render(
    counted: Mapping[str, int],
    gauged: Mapping[str, float],
    observed: Mapping[str, Histogram],
    is_open: bool = False,
) -> str:
    """The whole answer. What a table does not name is not written: it has no help, and it would be a mistake of ours."""
    lines: list[str] = []
    for name, samples in _families(counted):
        lines += _family(name, "counter", counters.TABLE[name], samples, is_open)
    for name, values in _families(gauged):
        kind = "counter" if name in gauges.COUNTERS else "gauge"
        lines += _family(name, kind, gauges.TABLE[name], values, is_open)
    for name, histogram in observed.items():
        lines += _histogram(name, histograms.TABLE[name], histogram, is_open)
    if is_open:
        lines.append("# EOF")
    return "\n".join(lines) + "\n"


def _families(values: Mapping[str, float]) -> Iterator[tuple[str, dict[str, float]]]:
    """Samples by family, each family once and whole, as both formats want it."""
    families: dict[str, dict[str, float]] = {}
    for name, value in values.items():
        families.setdefault(name.partition("{")[0], {})[name] = value
    yield from families.items()


def _family(name: str, kind: str, text: str, samples: Mapping[str, float], is_open: bool) -> list[str]:
    head = name.removesuffix("_total") if is_open and kind == "counter" else name
    return [
        f"# HELP {head} {escape_help(text, is_open)}",
        f"# TYPE {head} {kind}",
        *(f"{sample} {number(value)}" for sample, value in samples.items()),
    ]


def _histogram(name: str, text: str, histogram: Histogram, is_open: bool) -> list[str]:
    lines = [f"# HELP {name} {escape_help(text, is_open)}", f"# TYPE {name} histogram"]
    below = 0
    for bound, count in zip((*histogram.bounds, float("inf")), histogram.counts, strict=True):
        below += count
        lines.append(f'{name}_bucket{{le="{_bound(bound)}"}} {below}')
    return [*lines, f"{name}_sum {number(histogram.total)}", f"{name}_count {below}"]


def _bound(value: float) -> str:
    return "+Inf" if value == float("inf") else repr(value)
