"""The offline reader: a batch of turns in, people, memories and relations out."""
