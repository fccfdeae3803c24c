"""The composition root: stacks the layers into one broker process that a driver can run.

In     a configuration, what the store kept.
Out    a broker with its access rules, bridges and rewrites in place.
Never  I/O; protocol logic of its own.

Glossary
    config   the one configuration, a section for each layer, each defined by the layer itself
    wire     what brokers say to each other, as bytes
"""
