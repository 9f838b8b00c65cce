import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.web.drawing.links import notebook_link

OWN = "dash.lab.example:8000"


@pytest.mark.parametrize(
    ("link", "parts"),
    [
        ("http://jupyter/a.ipynb", ("http://", "jupyter", "/a.ipynb")),
        ("https://jupyter.lab:8888/x?y#z", ("https://", "jupyter.lab", ":8888/x?y#z")),
        ("http://jupyter.lab", ("http://", "jupyter.lab", "")),
        ("http://jupyter.lab?x", ("http://", "jupyter.lab", "?x")),
        ("HTTP://Jupyter.LAB/A", ("http://", "jupyter.lab", "/A")),
        ("http://jupyter.lab//x//y", ("http://", "jupyter.lab", "//x//y")),
        ("http://jupyter.lab/my trim.ipynb", ("http://", "jupyter.lab", "/my%20trim.ipynb")),
        ("http://bücher.example/", ("http://", "xn--bcher-kva.example", "/")),
        ("http://10.0.0.7:8888/", ("http://", "10.0.0.7", ":8888/")),
        ("http://[2001:db8::1]:8888/", ("http://", "[2001:db8::1]", ":8888/")),
        ("http://localhost:8888/", ("http://", "localhost", ":8888/")),
    ],
)
def test_an_honest_link_is_split_around_its_host(link, parts):
    found = notebook_link(link, OWN)
    assert (found.before, found.host, found.after) == parts
    assert (found.url, found.reason) == ("".join(parts), "")


@pytest.mark.parametrize(
    ("link", "reason"),
    [
        ("javascript:alert(1)", "Only http and https addresses become links."),
        ("data:text/html,x", "Only http and https addresses become links."),
        ("file:///etc/passwd", "Only http and https addresses become links."),
        ("//jupyter.lab/x", "Only http and https addresses become links."),
        ("notebooks/a.ipynb", "Only http and https addresses become links."),
        ("", "Only http and https addresses become links."),
        ("http:///x", "The address names no host."),
        ("http:jupyter.lab", "The address names no host."),
        ("http://:80/", "The address names no host."),
        ("http://[::1", "This is not a valid address."),
        ("http://[fe80::1%25eth0]/", "The host of the address is not spelled like one."),
        ("http://jupyter.lab:99999/", "This is not a valid address."),
        ("http://jupyter.lab:x/", "This is not a valid address."),
        ("http://" + "a" * 2000, "The address is longer than 2000 characters."),
    ],
)
def test_what_is_no_address_of_a_page_is_no_link(link, reason):
    found = notebook_link(link, OWN)
    assert (found.url, found.reason) == (None, reason)


@pytest.mark.parametrize(
    "link",
    [
        "http://jupyter.lab\u202e/x",
        "http://jupyter\u200b.lab/",
        "http://jupyter.lab/\n",
        "java\nscript:x",
        "http://jup\tyter.lab/",
        " http://jupyter.lab/",
        "http://jupyter.lab/ ",
        "\x01http://jupyter.lab/",
    ],
)
def test_hidden_characters_make_no_link(link):
    assert notebook_link(link, OWN).reason == (
        "The address holds hidden characters or line breaks."
    )


@pytest.mark.parametrize(
    "link", ["http://jupyter.lab@evil.example/", "http://a:b@evil.example/", "http://@evil/"]
)
def test_a_user_name_makes_no_link(link):
    assert notebook_link(link, OWN).url is None


def test_a_backslash_makes_no_link():
    assert notebook_link("http://evil.example\\@jupyter.lab/", OWN).url is None


@pytest.mark.parametrize(
    "host",
    ["%6c%6fcalhost", "a..b", "-a", "a b", "a&b", "127.1", "0x7f.1", "2130706433", "1.2.3.4.5"],
)
def test_a_host_that_a_browser_may_read_otherwise_makes_no_link(host):
    assert notebook_link(f"http://{host}/", OWN).url is None


@pytest.mark.parametrize(
    "host",
    [
        "dash.lab.example",
        "dash.lab.example:8888",
        "DASH.lab.Example",
        "dash.lab.example.",
        "\uff44ash.lab.example",
    ],
)
def test_our_own_host_on_any_port_makes_no_link(host):
    found = notebook_link(f"http://{host}/x", OWN)
    assert found.url is None
    assert found.reason.startswith("The address is on the host of this dashboard. Cookies ignore")


@pytest.mark.parametrize("own", ["localhost:8000", "127.0.0.1", "[::1]:8000", "app.localhost"])
@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST.",
        "x.localhost",
        "127.0.0.1",
        "127.9.9.9",
        "[::1]",
        "0.0.0.0",  # noqa: S104 - nothing is bound
        "[::]",
        "[::ffff:127.0.0.1]",
        "[0:0:0:0:0:0:0:1]",
    ],
)
def test_all_names_of_this_computer_are_one_host(own, host):
    assert notebook_link(f"http://{host}:8888/", own).url is None


@pytest.mark.parametrize(("own", "host"), [("10.0.0.7", "[::ffff:10.0.0.7]"), ("[::2]", "[0::2]")])
def test_two_spellings_of_one_address_are_one_host(own, host):
    assert notebook_link(f"http://{host}/", own).url is None


def test_what_is_no_link_is_shown_with_its_hidden_characters():
    assert notebook_link("<b>\u202e", OWN).shown == (
        '&lt;b&gt;<span class="glyph glyph-direction" title="U+202E RIGHT-TO-LEFT OVERRIDE">'
        "RLO</span>"
    )


@given(st.text() | st.text().map("http://".__add__), st.text())
def test_no_text_breaks_it_and_a_link_is_what_it_shows(link, own):
    found = notebook_link(link, own)
    assert found.url in (None, f"{found.before}{found.host}{found.after}")
    assert (found.url is None) == bool(found.reason)
