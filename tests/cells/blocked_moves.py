"""A move in another process, and what it waits for, so that it is killed there."""

# Who holds it up, and in which cell.
BLOCKED = {
    "before it holds the user": ("c1", "SELECT 1 FROM accounts_enduser WHERE id = {} FOR UPDATE"),
    "before the copy is committed": ("c2", "SELECT 1 FROM accounts_app FOR UPDATE"),
    "when all is in both cells": (
        "default",
        "SELECT 1 FROM accounts_cell WHERE name = 'c1' FOR UPDATE",  # counts what is placed
    ),
    "before the rest is deleted": (
        "c1",
        "SELECT 1 FROM memories_message WHERE end_user_id = {} FOR UPDATE",
    ),
}
MOVE = """
import sys
from django.core.management import call_command
call_command("cells", "move-user", sys.argv[1], "ann", "c2")
"""
