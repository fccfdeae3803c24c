"""Acknowledged is kept: nothing that a client may rely on leaves before the store has what it promises."""

from broker_bench import Bench
from weft.broker.journal import Journal
from weft.broker.records import MessageKept, Queued, RetainedGone, SessionKept
from weft.broker.settings import BrokerSettings, Limits
from weft.mqtt.codec.packets import Pingreq, Pingresp, Puback, Pubcomp, Publish, Pubrec, Pubrel, Suback


def held_bench(**limits) -> Bench:
    return Bench(BrokerSettings(Limits(**limits)), keeps=True, holds=True, commits=False)


def away(bench: Bench, name: str = "s", qos: int = 2, expiry_s: int = 1_000) -> None:
    client = bench.client(name, version=5, session_expiry_s=expiry_s)
    client.subscribe("t", qos=qos)
    bench.commit()
    client.vanish()
    bench.commit()


class Waiter:
    def __init__(self) -> None:
        self.released: list[int] = []

    def release(self, now: float, batch: int) -> None:
        self.released.append(batch)


def test_without_a_store_nothing_is_recorded_and_nobody_waits():
    journal = Journal()
    journal.append(RetainedGone("t"))
    assert journal.take() == (1, [])
    assert journal.wait(Waiter()) == 0


def test_with_a_store_that_is_not_waited_for_nobody_waits():
    journal = Journal(keeps=True)
    journal.append(RetainedGone("t"))
    assert journal.wait(Waiter()) == 0
    assert journal.take() == (1, [RetainedGone("t")])


def test_who_waits_waits_for_the_batch_that_holds_the_last_record():
    journal = Journal(keeps=True, holds=True)
    journal.append(RetainedGone("t"))
    early, late = Waiter(), Waiter()
    assert journal.wait(early) == 1
    journal.take()
    assert journal.wait(late) == 1  # nothing since: the same batch
    journal.append(RetainedGone("t"))
    assert journal.wait(late) == 2
    journal.take()
    journal.committed(0.0, 1)
    assert (early.released, late.released) == ([1], [1])
    journal.committed(0.0, 2)
    assert late.released == [1, 2]
    assert journal.wait(late) == 0


def test_a_puback_waits_for_the_message():
    bench = held_bench()
    away(bench)
    publisher = bench.client("p").publish("t", qos=1)
    assert publisher.take() == []
    assert any(isinstance(record, MessageKept) for record in bench.records)
    assert any(isinstance(record, Queued) for record in bench.records)
    bench.commit()
    assert publisher.take() == [Puback(1)]


def test_a_pubrec_waits_too():
    bench = held_bench()
    away(bench)
    publisher = bench.client("p").publish("t", qos=2)
    assert publisher.take() == []
    bench.commit()
    assert publisher.take() == [Pubrec(1)]


def test_a_suback_of_a_session_that_survives_waits_for_its_subscription():
    bench = held_bench()
    client = bench.client("s", version=5, session_expiry_s=60)
    assert client.subscribe("t") == []
    bench.commit()
    assert client.take() == [Suback(1, (0,))]


def test_what_nobody_must_keep_is_answered_at_once():
    bench = held_bench()
    bench.client("s").subscribe("t", qos=1)
    assert bench.client("p").publish("t", qos=1).take() == [Puback(1)]


def test_answers_keep_their_order_behind_one_that_waits():
    """§4.6."""
    bench = held_bench()
    away(bench)
    publisher = bench.client("p").publish("t", qos=1).publish("elsewhere", qos=1)
    assert publisher.take() == []
    publisher.send(Pingreq())
    assert publisher.take() == [Pingresp()]
    bench.commit()
    assert publisher.take() == [Puback(1), Puback(2)]


def test_subscribers_do_not_wait():
    bench = held_bench()
    away(bench)
    here = bench.client("here")
    here.subscribe("t")
    bench.client("p").publish("t", b"x", qos=1)
    assert here.payloads() == [b"x"]


def test_a_qos_2_message_goes_out_when_its_identifier_is_durable():
    """Else a crash would send it again under another identifier: twice."""
    bench = held_bench()
    client = bench.client("s", version=5, session_expiry_s=60)
    client.subscribe("t", qos=2)
    bench.commit()
    client.take()
    bench.client("p").publish("t", b"2", qos=2).publish("t", b"1", qos=1)
    assert client.payloads() == [b"1"]
    bench.commit()
    assert client.payloads() == [b"2"]


def test_a_pubrel_waits_until_the_pubrec_before_it_is_durable():
    """Else the client forgets the identifier, and after a crash the message comes again as a new one [MQTT-4.3.3-4]."""
    bench = held_bench()
    client = bench.client("s", version=5, session_expiry_s=60)
    client.subscribe("t", qos=2)
    bench.client("p").publish("t", qos=2)
    bench.commit()
    client.take()
    assert client.send(Pubrec(1)).take() == []
    client.vanish()
    client = bench.client("s", version=5, clean=False, session_expiry_s=60)  # a new connection gets it no sooner
    assert Pubrel(1) not in client.take()
    bench.commit()
    assert Pubrel(1) in client.take()


def test_a_pubcomp_waits_until_the_identifier_is_durably_free():
    """Else the next message under it looks, after a crash, like the one before [MQTT-4.3.3-12]."""
    bench = held_bench()
    publisher = bench.client("p", version=5, session_expiry_s=60)
    publisher.send(Publish("t", b"x", 2, packet_id=7))
    bench.commit()
    publisher.take()
    assert publisher.send(Pubrel(7)).take() == []
    bench.commit()
    assert publisher.take() == [Pubcomp(7)]


def test_a_repeated_message_is_not_acknowledged_before_it_is_durable_either():
    bench = held_bench()
    publisher = bench.client("p", version=5, session_expiry_s=60)
    publisher.send(Publish("t", b"x", 2, packet_id=7)).vanish()
    publisher = bench.client("p", version=5, clean=False, session_expiry_s=60)
    publisher.send(Publish("t", b"x", 2, packet_id=7, dup=True))
    assert Pubrec(7) not in publisher.take()
    bench.commit()
    assert Pubrec(7) in publisher.take()


def test_a_held_pubrec_counts_once_towards_the_receive_maximum():
    """[MQTT-3.3.4-7]: whoever keeps to it is not disconnected because the disk is slow."""
    bench = held_bench(receive_maximum=4)
    away(bench)
    publisher = bench.client("p", version=5)
    publisher.send(*[Publish("t", b"x", 2, packet_id=number) for number in range(1, 5)])
    bench.commit()
    assert publisher.take() == [Pubrec(number) for number in range(1, 5)]


def test_a_publisher_that_outruns_the_store_is_not_read_from():
    bench = held_bench(receive_maximum=4)
    away(bench)
    publisher = bench.client("p")
    publisher.send(*[Publish("t", b"x", 1, packet_id=number) for number in range(1, 7)])
    assert not publisher.connection.reading
    bench.commit()
    assert publisher.connection.reading
    assert len(publisher.take()) == 6


def test_who_has_gone_before_the_commit_is_not_written_to():
    bench = held_bench()
    away(bench)
    publisher = bench.client("p").publish("t", qos=1)
    publisher.vanish()
    bench.commit()
    assert publisher.take() == []


def test_nothing_is_recorded_for_sessions_that_end_with_their_connection():
    bench = held_bench()
    bench.client("s").subscribe("t", qos=2)
    bench.client("p").publish("t", qos=2)
    assert bench.records == []


def test_a_message_is_kept_once_however_many_wait_for_it():
    bench = held_bench()
    for number in range(3):
        away(bench, f"s{number}")
    bench.client("p").publish("t", qos=1)
    assert sum(isinstance(record, MessageKept) for record in bench.records) == 1
    assert sum(isinstance(record, Queued) for record in bench.records) == 3
    assert sum(isinstance(record, SessionKept) for record in bench.records) == 6
