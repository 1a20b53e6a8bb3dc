"""Telling what of a file can't be read."""

from django.core.management.base import BaseCommand

from accounts.reasons import Skipped


def tell_skipped(command: BaseCommand, skipped: Skipped) -> None:
    """Names on stderr what was left out, the first of it by its place."""
    for reason in skipped.named:
        command.stderr.write(f"Left out: {reason}")
    if more := skipped.count - len(skipped.named):
        command.stderr.write(f"Left out: {more} more.")
