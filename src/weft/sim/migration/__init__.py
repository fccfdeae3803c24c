"""Topics between overlay and switches, in the simulator: what the papers' experiments need of it.

In     members that publish, join, leave and move; OFGate, which is asked
Out    questions, messages, hops and times
Never  the product's own agents: those arrive with the OpenFlow fabric, and will replace these

Glossary
    OFGate         who knows which topics the switches carry (SAPS)
    EITHER, BOTH   ask OFGate at each publish; or send both ways until all have moved
    rejoin, rename move by joining anew and leaving; or by rewriting the key where it stands (MIGRATE)
"""
