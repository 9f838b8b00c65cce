"""One file a framework: each is duck-typed, imports none, and says what it was checked against."""
