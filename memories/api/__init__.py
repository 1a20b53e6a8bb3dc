"""Messages, context, search, memories, changes and whole users over HTTP."""
