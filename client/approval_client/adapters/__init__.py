"""One file a framework. None imports its framework; each says what it was checked against."""
