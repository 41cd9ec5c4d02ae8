"""Documents: their hashes, the ruling about them, the tokens bound to them."""
