"""What root gives to a service's account, and what it does not."""

import os

import pytest

from dashboard import owner

ACCOUNT = 65534


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_files_are_given_and_what_has_another_name_or_is_a_link_is_not(tmp_path):
    root, elsewhere = tmp_path / "static", tmp_path / "elsewhere"
    root.mkdir()
    elsewhere.write_text("b")
    (root / "page.css").write_text("a")
    (root / "hard").hardlink_to(elsewhere)
    (root / "soft").symlink_to(elsewhere)
    os.chown(tmp_path, ACCOUNT, ACCOUNT)

    owner.give_all_to_owner(root)

    owners = [path.stat().st_uid for path in (root, root / "page.css", elsewhere)]
    assert owners == [ACCOUNT, ACCOUNT, 0]
