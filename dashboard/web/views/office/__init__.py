"""Where people sign in, and where admins and auditors work. Views ask and show; services write."""
