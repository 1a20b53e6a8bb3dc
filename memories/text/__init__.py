"""What a message says and asks, read without a model: the user's own words, sentences, secrets,
requests to forget."""
