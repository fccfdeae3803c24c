"""The papers as the report heads them, and their words, for a reader who knows MQTT and has not read them."""

TITLES = {
    "SAPS": "SAPS: hybrid of overlay and OpenFlow multicast",
    "RELAY": "RELAY: strong relay-free overlays",
    "MIGRATE": "MIGRATE: moving members by renaming (in the simulator)",
    "SELECT": "SELECT: choosing dataflow components",
    "SHG": "SHG: content-based routing on a hypercube",
    "beyond": "Beyond the papers",
}

WORDS = {
    "SAPS": "Brokers stand in clusters behind switches. **ALM**: subscribers hand a publication on to each other over the "
    "overlay. **ALM-LA**: the same with the cluster in the key, so that neighbours in the overlay are near each "
    "other. **OFM**: OpenFlow switches copy it along a tree that is set up for the topic; **OFGate** is the server "
    "that sets it up, and the publisher gets its own packet back (loopback). **EITHER**: a publisher asks OFGate "
    "which of the two to use. **BOTH**: it uses both, and members move from ALM to OFM meanwhile.",
    "RELAY": "The **proposed method** keeps the publishers and the subscribers of a topic next to each other in a Skip Graph. "
    "**Relay-free**: nobody forwards for topics that are not its own; **strong**: publishers and subscribers are "
    "connected among themselves, too, so publishers can be told that nobody subscribes (suspending). **Scribe** and "
    "**Bayeux** send through a root node that is given by the topic's hash; **CAN-MC** floods a small CAN of the "
    "members. Patterns **α** to **ζ** are numbers of publishers and subscribers a topic.",
    "MIGRATE": "ALM, OFM, OFGate, EITHER and BOTH are SAPS's. A topic's members move from its ALM topic to its OFM topic: "
    "**rejoin** is the conventional way (join the one, leave the other), **rename** the proposed one (a member keeps "
    "its place and rewrites its key). **M_ALM**, **M_OFM**: hops of a publication by either; with a **t**, to a topic "
    "that has no members; **M_Q**: hops of a question to OFGate and its answer.",
    "SELECT": "A request reserves one free component out of a range of **Nr**, in a ring of **Nb** brokers. **Anycast** walks "
    "to one by values (how many are free) in forward and backward finger tables, **FFT** and **BFT**; **Many**, "
    "**Few**, **Close** and **Random** are how it weighs the fingers: by a high value, a low one, a low level, or all "
    "alike. **Multicast** asks all and reserves one, **Optimal** knows the nearest. Values are refreshed level by "
    "level, one every **T**, all of them (a sweep) in **(k+1)T**; **Tw** is the time between two requests, 0 for no "
    "updates at all.",
    "SHG": "Nodes are the corners of a hypercube of **n** dimensions, cut into subscription partitions of **k**. A "
    "subscription is installed on the way to its partition's **dominating node**; an event crosses the **event "
    "partition**, which is all dominating nodes, and goes down the installed ways. **Corrected** is as the text and "
    "the figures have it, **literal** as the procedures are printed.",
}
