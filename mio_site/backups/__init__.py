"""All of Mio as one file, and back: the shared database and every cell."""
