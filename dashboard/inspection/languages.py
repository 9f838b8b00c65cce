"""Which of the languages that agents name are coloured, and by which Pygments lexer.

Colours are a help to the reader and no more: an unknown name is shown as plain text, and nothing
is ever guessed. Left out on purpose are lexers that hang on hostile input where agents seldom
need them: csharp, fish, ini, java, make, r, rst, scala, tcsh, terraform. What is left can still be
slow, so lexers run in the sandbox.
"""

from __future__ import annotations

TEXT = "text"

_SPELLINGS = {
    "bash": "bash sh shell zsh shellscript",
    "c": "c h",
    "cpp": "cpp c++ cc cxx hpp",
    "css": "css",
    "diff": "diff patch",
    "docker": "docker dockerfile",
    "go": "go golang",
    "html": "html htm",
    "javascript": "javascript js jsx mjs node nodejs",
    "json": "json jsonc",
    "julia": "julia jl",
    "kotlin": "kotlin kt",
    "lua": "lua",
    "markdown": "markdown md",
    "matlab": "matlab",
    "perl": "perl pl",
    "php": "php",
    "powershell": "powershell pwsh ps1 ps",
    "python": "python py python3 py3 ipython",
    "ruby": "ruby rb",
    "rust": "rust rs",
    "sql": "sql postgresql postgres sqlite mysql",
    "swift": "swift",
    "text": "text txt plain plaintext",
    "toml": "toml",
    "typescript": "typescript ts tsx",
    "xml": "xml svg",
    "yaml": "yaml yml",
}
_ALIASES = {
    spelling: alias for alias, spellings in _SPELLINGS.items() for spelling in spellings.split()
}
_UNCOLOURED = dict.fromkeys(["batch", "bat", "cmd", "dos", "winbatch"], "batch")

LANGUAGES = frozenset(_ALIASES.values()) | frozenset(_UNCOLOURED.values())
"""Our names for the languages that we know."""


def lexer_alias(language: str | None) -> str:
    """Return the Pygments alias for a language as an agent spells it, ``"text"`` if unknown."""
    return _ALIASES.get(_spelling(language), TEXT)


def is_known(language: str | None) -> bool:
    """Say whether ``language`` is a spelling of ours, plain text included."""
    return _spelling(language) in _ALIASES


def our_spelling(language: str | None) -> str:
    """Return our name for a language as an agent spells it, ``""`` if we have none.

    More of them are inspected than coloured.
    """
    spelling = _spelling(language)
    return _ALIASES.get(spelling) or _UNCOLOURED.get(spelling, "")


def _spelling(language: str | None) -> str:
    if not language or not language.isascii():  # no other letter may pass for one of ours
        return ""
    return language.strip().lower()
