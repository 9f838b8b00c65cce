"""Two dashboards on one host have cookies of their own."""

from dashboard.cookies import cookie_names


def test_names_are_those_of_hkdf():
    # Worked out with cryptography's HKDF(SHA256(), 4, salt=None, info=b"names of cookies").
    assert cookie_names("k" * 50, https=False) == ("approvals-3c6c319f", "approvals-3c6c319f-csrf")


def test_another_key_has_other_names():
    names = {*cookie_names("a" * 50, https=False), *cookie_names("b" * 50, https=False)}

    assert len(names) == 4


def test_over_tls_browsers_hold_them_to_the_host():
    assert all(name.startswith("__Host-") for name in cookie_names("k" * 50, https=True))
