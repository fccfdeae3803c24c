"""Rendezvous trees, as Scribe and Bayeux have them: publications go to a topic's root and down a tree (RELAY §3.1).

In     a ``Route``: from here, where next towards an id; the verbs of ``Groups``; Post, Rooted, Data
Out    publications at the root, from there to who the overlay's table says; the publisher learns the root
Never  who is in the tree, or how it got there: that is what Scribe and Bayeux differ in; never a substrate's tables

Glossary
    identity   a number of ``digits`` binary digits, digit 0 first: a node's, or the hash of a topic
    route      by numeric id over the rings of a Skip Graph (SkipNet), or by prefix over a hypercube
    walk       what a message on its way over rings carries: the ring it is in, where it entered, who is nearest so far
    root       the node that owns a topic's id
    relay      the way from the publisher to the root: one message, once the publisher knows the root
"""
