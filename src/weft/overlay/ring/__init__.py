"""The ring: a distributed doubly linked list in key order without locks (DDLL, Abe & Yoshida; overlay §2).

In     insert and delete of our virtual nodes; SetR, SetL, Ping and their answers from peers
Out    who is left and right of each of our nodes, and jobs that ride on a SetR
Never  routing: where a key belongs is ``lookup``'s business; never a lock, never a decision from a left pointer alone

Glossary
    link       one virtual node's place in one ring: Skip Graphs have a ring per level, the others only level 0
    SetR/SetL  "make this your right neighbour" / "make this your left"; only the left neighbour's SetR decides
    seq        ``(repair, n)``: orders the SetLs that one node is sent, so that an old one changes nothing
    check      looking whether the left neighbour lives and still points here; walks and repairs if not
"""
