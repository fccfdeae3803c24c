"""Which topics deserve flow entries: the most saved link crossings that the switches' tables have room for.

In: topics with what they would save and the entries that they need on each switch; each switch's budget.
Out: a plan.
Never: Spark, I/O, a clock.
"""
