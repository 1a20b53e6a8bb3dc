"""Imports files of other programs: chat histories, address books and memories."""
