"""What is asked about: everybody reads it, admins draft and publish it."""
