"""What must hold before anything is approved."""
