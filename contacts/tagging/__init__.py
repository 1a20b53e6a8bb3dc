"""People spoken of in a text, known or new: spans, which of them are one person, whose a role is."""
