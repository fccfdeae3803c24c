"""One module per experiment: its grid, its model, what is made of the rows, what the paper says, its plots.

In: a point of the grid and a seed.
Out: rows, a pure function of both.
Never: Spark, pandas, matplotlib's import, a clock; a number typed where one can be computed.
"""
