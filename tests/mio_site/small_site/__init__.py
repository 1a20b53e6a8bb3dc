"""The least project that `serve` can run: migrations, two commands, a page, a queue."""
