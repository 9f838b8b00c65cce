"""Says what a script for bash and its kin does, from its syntax tree."""
