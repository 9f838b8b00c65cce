"""Measures the inspectors on code that nobody here wrote.

``python -m tests.corpora`` fetches the corpora into the ignored folder ``.corpora``, prints how
much is found and how often the alarm is false, beside bandit and semgrep on the same input, and
fails where a floor of ``corpora.toml`` is missed. Nothing of the corpora is committed.
"""
