"""The admin interface: HTTP/1.1 with a REST API, its OpenAPI document, Prometheus metrics, health and readiness.

In     HTTP requests; a broker to look at and to command.
Out    answers of bounded size; commands to the broker; ``wake`` when a command gave the driver something to do.
Never  MQTT; a handler that waits or that looks at everything the broker has at once; an answer to a foreign page.

For whoever starts it, once the broker runs::

    admin = AdminServer(Desk(broker, clock=now, wake=tick), host="127.0.0.1", port=9883, token=None, tls=None)
    await admin.start()       # raises Misuse (no token outside loopback) or OSError (the port is taken); admin.url says where
    await admin.stop()        # closes listener and connections

``Desk`` says what else a host may lend: ``trouble``, ``gauges``, ``reload``, ``log_level``, and ``histograms``, into which
``telemetry.histograms.Commits`` measures the store's commits.

Glossary
    desk       what handlers may use: the broker, the clock, and what else of the process the host lets them
    endpoint   a line of ``endpoints.TABLE``: method, path, handler, schemas; the OpenAPI document is made of it
    guard      who may ask: a token, or loopback and no foreign page
    wire       one connection, bounded in bytes and time
    problem    a refusal, as RFC 9457 writes it
"""
