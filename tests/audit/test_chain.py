import hashlib
import json

import pytest

from dashboard.audit.chain import GENESIS, Break, Link, Walk, link_hash


def chain(length):
    links, prev = [], GENESIS
    for seq in range(1, length + 1):
        link = Link(seq, "2026-11-21T00:00:00.000000+00:00", "a", "b", "c", "d", "e", "{}", prev)
        link = link._replace(hash=link_hash(link))
        links.append(link)
        prev = link.hash
    return links


def test_a_whole_chain_holds_and_tells_its_head():
    links, walk = chain(5), Walk()

    assert walk.first_break(links, {}) is None
    assert (walk.seq, walk.hash) == (5, links[-1].hash)


@pytest.mark.parametrize(
    "field", ["at", "actor", "auth", "action", "subject", "digest", "details"]
)
def test_a_changed_field_is_found(field):
    links = chain(5)
    links[2] = links[2]._replace(**{field: "other"})

    assert Walk().first_break(links, {}) == Break(3, "entry 3 was changed")


@pytest.mark.parametrize("value", [None, 5, b"a"])
def test_what_is_no_text_is_a_changed_field(value):
    links = chain(5)
    links[2] = links[2]._replace(actor=value)

    assert Walk().first_break(links, {}) == Break(3, "entry 3 was changed")


@pytest.mark.parametrize("text", ["", 'a"b\\c', "\n\x00\x7f", "é\u2028\U0001f600", "\ud800", "</"])
def test_a_link_is_hashed_as_one_array_of_json(text):
    link = Link(1, "t", "a", "b", "c", "d", "e", text, GENESIS)

    written = json.dumps(link[:-1], separators=(",", ":"))

    assert link_hash(link) == hashlib.sha256(written.encode()).hexdigest()


def test_a_changed_entry_that_was_hashed_anew_is_found_at_the_next():
    links = chain(5)
    changed = links[2]._replace(actor="mallory")
    links[2] = changed._replace(hash=link_hash(changed))

    assert Walk().first_break(links, {}) == Break(4, "entry 4 does not follow the entry before it")


def test_a_missing_entry_is_found():
    links = chain(5)
    del links[1]

    assert Walk().first_break(links, {}) == Break(2, "entry 2 is missing")


def test_text_cannot_be_moved_from_one_field_to_the_next():
    one = Link(1, "t", "ab", "c", "", "", "", "", GENESIS)
    other = Link(1, "t", "a", "bc", "", "", "", "", GENESIS)

    assert link_hash(one) != link_hash(other)


def test_a_head_that_was_kept_elsewhere_finds_a_cut_tail():
    links = chain(5)
    kept = {5: {links[-1].hash}}

    assert Walk().first_break(links[:3], kept) == Break(4, "the log was cut off after entry 3")


def test_a_head_that_was_kept_elsewhere_finds_a_log_that_was_written_anew():
    kept = {3: {"f" * 64}}

    found = Walk().first_break(chain(5), kept)

    assert found == Break(3, "entry 3 is not the one that was expected")
