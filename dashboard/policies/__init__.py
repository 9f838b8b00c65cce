"""What is asked about, and what is not."""
