"""The OpenID Connect provider that people sign in at, and what it says about them."""
