"""The log says each thing once a minute, and how often it was."""

from weft.broker.notices import EVERY_S, SUBJECTS_MAX, Notices


def test_what_is_said_is_said_in_order():
    notices = Notices()
    notices.say("info", "one")
    notices.say("error", "two", client="c")
    assert [(notice.level, notice.event, notice.fields) for notice in notices.take()] == [
        ("info", "one", {}),
        ("error", "two", {"client": "c"}),
    ]
    assert notices.take() == []


def test_the_same_of_the_same_is_said_once_a_minute_with_how_often_it_was():
    notices = Notices()
    for now in (0.0, 1.0, 2.0, EVERY_S, EVERY_S + 1):
        notices.say_seldom(now, "warning", "slow", "c")
    assert [notice.fields for notice in notices.take()] == [{}, {"left_out": 2}]


def test_others_are_not_silenced():
    notices = Notices()
    notices.say_seldom(0.0, "warning", "slow", "a")
    notices.say_seldom(0.0, "warning", "slow", "b")
    notices.say_seldom(0.0, "warning", "full", "a")
    assert len(notices.take()) == 3


def test_a_million_subjects_do_not_fill_the_memory():
    notices = Notices()
    for number in range(SUBJECTS_MAX * 2 + 5):
        notices.say_seldom(0.0, "warning", "slow", str(number))
        notices.pending.clear()
    assert len(notices._said) <= SUBJECTS_MAX
