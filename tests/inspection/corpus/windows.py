"""Commands of Windows: what does harm, plainly or in disguise, and what does none.

Nothing of Windows is read as a whole, so there is always the doubt ``not-inspected``. It is no
answer to what is dangerous, and no false alarm about what is not.
"""

from __future__ import annotations

from tests.inspection.corpus.snippet import read

PLAIN = read("windows_plain.txt", "powershell")
EVASIVE = read("windows_evasive.txt", "powershell")
DANGEROUS = [*PLAIN, *EVASIVE]
HARMLESS = read("windows_harmless.txt", "powershell")
