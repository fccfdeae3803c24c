"""Where sources, transforms and sinks are wired together and run; the session is made here and nowhere else.

In: experiments, results.
Out: Parquet, reports.
Never: a computation of its own.
"""
