"""The data pipeline on PySpark: experiments that reproduce the papers, at their full sizes and beyond.

In: experiments (points, seeds, pure models), result tables.
Out: Parquet keyed by what made it, summaries, plots, a report whose verdicts are computed.
Never: Spark outside this package, a session made outside ``jobs``, rows collected to the driver.
"""
