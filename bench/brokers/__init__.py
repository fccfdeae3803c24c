"""What ``bench/broker.py`` consists of: brokers as processes, load from a compiled generator, and what became of both.

In     a compiler, ``weft broker``, mosquitto.
Out    CPU, rate, delay and memory of each broker in each scenario, medians and spreads, ratios, pages.
Never  a broker that served another scenario before; a public address; a process that outlives the measurement.

Glossary
    peer       a broker that is measured in the same run as weft, by the same generator
    scenario   who publishes what to whom, and how fast
    run        one scenario on one fresh broker
    delivery   one message that reached one subscriber
"""
