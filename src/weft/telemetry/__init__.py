"""What weft says about itself: counters, gauges and histograms now, record schemas for the pipeline when it arrives.

In     counts from every layer above.
Out    values by name, for ``/metrics``, ``$SYS``, ``weft ctl`` and tests.
Never  I/O, a clock, an import from anything but ``core``.

Glossary
    counter      a number that only rises, named once in ``counters.TABLE`` with its help text
    gauge        a number that is asked for when somebody looks; ``gauges.TABLE``
    histogram    how often something took how long; ``histograms.TABLE``
    exposition   all of them as text, for Prometheus
"""
