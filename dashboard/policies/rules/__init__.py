"""What a rule is, what it matches on, what it asks for, and whether it is sound. Pure."""
