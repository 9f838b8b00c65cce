"""Who asks and who decides."""
