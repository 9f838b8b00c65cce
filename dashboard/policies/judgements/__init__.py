"""How rules and modes judge one question, and how that is said. Pure."""
