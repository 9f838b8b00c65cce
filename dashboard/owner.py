"""What root makes in the folder of a service's account belongs to that account."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TextIO


def give_to_owner(file: int, folder: Path) -> None:
    """Let whoever owns the folder own a new file in it, where root makes it for a server.

    Args:
        file: The open file. A name could be made a link to another one meanwhile.
    """
    if os.geteuid() == 0 and os.fstat(file).st_nlink == 1:
        owner = folder.stat()
        os.fchown(file, owner.st_uid, owner.st_gid)


def open_for_owner(path: Path, flags: int = 0) -> TextIO:
    """Open a file to write it, or make it for whoever owns its folder. No link is followed."""
    flags |= os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    give_to_owner(descriptor, path.parent)
    return os.fdopen(descriptor, "r+", encoding="utf-8")


def give_all_to_owner(root: Path) -> None:
    """The same for a folder and all that root has made in it. Links are not followed."""
    owner = root.parent.stat()
    if os.geteuid() != 0 or owner.st_uid == 0:
        return
    for _, _, names, folder in os.fwalk(root):
        os.fchown(folder, owner.st_uid, owner.st_gid)
        for name in names:
            with suppress(OSError):  # it is a link, or gone
                flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
                file = os.open(name, flags, dir_fd=folder)
                try:
                    if os.fstat(file).st_uid == 0:
                        give_to_owner(file, root.parent)
                finally:
                    os.close(file)
