"""Who may connect and what they may do.

In     credentials, topics, files that the driver has read.
Out    verdicts: granted, denied, or work for another thread that ends in one of them.
Never  I/O; a password or a token in a log line.

Glossary
    authority   answers everything a broker asks; ``api`` is the seam
    granted     may connect, as a user or anonymously
    work        a check that costs much, as a callable without side effects
    verifier    what is kept of a password for SCRAM
    view        the rules as they are for one client, names filled in
    rule        allow or deny, an action, a topic pattern with ``%u`` and ``%c``
"""
