"""Pure functions DataFrame → DataFrame, in column expressions.

In: DataFrames.
Out: DataFrames.
Never: an action, a session, a file.
"""
