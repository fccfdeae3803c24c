"""From summaries to pages: verdicts, pictures, Markdown, HTML, CSV.

In: tables of summaries, and what the runs cost.
Out: files.
Never: Spark; a number or a verdict that was not computed.
"""
