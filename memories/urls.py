from django.urls import path

from memories.api import (
    calendar_feed,
    changes,
    contacts,
    context,
    dates,
    erasures,
    memories,
    messages,
    own_page,
    search,
    users,
)

MEMORY, CONTACT = "memories/<uuid:memory_id>/", "contacts/<uuid:contact_id>/"
CHANGE = "changes/<uuid:change_id>/"

# Address below an end user's, view, name. They can't be a tree of prefixes: the id of an end user
# may contain slashes, so only the whole address shows where it ends.
ENDPOINTS = [
    ("messages/", messages.Messages, "messages"),
    ("messages/<int:message_id>/", messages.OneMessage, "message"),
    ("sessions/", messages.Sessions, "sessions"),
    ("process/", messages.Process, "process"),
    ("jobs/<uuid:job_id>/", messages.OneJob, "job"),
    ("context/", context.ContextView, "context"),
    ("search/", search.Search, "search"),
    ("memories/", memories.Memories, "memories"),
    (MEMORY, memories.OneMemory, "memory"),
    (f"{MEMORY}links/", memories.MemoryLinks, "memory-links"),
    (f"{MEMORY}links/<uuid:contact_id>/", memories.OneLink, "memory-link"),
    (f"{MEMORY}move/", memories.Move, "memory-move"),
    (f"{MEMORY}edges/", memories.MemoryEdges, "memory-edges"),
    (f"{MEMORY}edges/<int:edge_id>/", memories.OneEdge, "memory-edge"),
    (f"{MEMORY}history/", memories.MemoryHistory, "memory-history"),
    (CONTACT, contacts.Person, "contact"),
    ("changed-facts/", memories.WhatChanged, "changed-facts"),
    (f"{CONTACT}merge/", contacts.Merge, "contact-merge"),
    (f"{CONTACT}split/", contacts.Split, "contact-split"),
    (f"{CONTACT}not-the-same/", contacts.NotTheSame, "contact-not-the-same"),
    (f"{CONTACT}archive/", contacts.Archive, "contact-archive"),
    (f"{CONTACT}resolve/", contacts.Resolve, "contact-resolve"),
    ("relations/", contacts.Relations, "relations"),
    ("relations/<int:relation_id>/", contacts.OneRelation, "relation"),
    ("suggestions/", contacts.Suggestions, "suggestions"),
    ("suggestions/<int:suggestion_id>/decide/", contacts.DecideSuggestion, "suggestion-decide"),
    ("dates/", dates.Dates, "dates"),
    ("calendar/", calendar_feed.Calendar, "calendar"),
    ("dates/<uuid:date_id>/", dates.OneDate, "date"),
    ("changes/", changes.Changes, "changes"),
    (CHANGE, changes.OneChange, "change"),
    (f"{CHANGE}undo/", changes.Undo, "change-undo"),
    ("forgetting/", erasures.Forgettings, "forgettings"),
    ("forgetting/<uuid:erasure_id>/", erasures.OneForgetting, "forgetting"),
    ("forgetting/<uuid:erasure_id>/decide/", erasures.Decide, "forgetting-decide"),
    ("forgetting/<uuid:erasure_id>/erase/", erasures.Erase, "forgetting-erase"),
    ("card/", users.Card, "card"),
    ("page/", own_page.OwnPage, "page"),
    ("export/", users.Export, "export"),
    ("forget/", users.Forget, "forget"),
    ("", users.User, "user"),  # the last: whatever else follows an id may be part of it
]

urlpatterns = [
    path(f"users/<path:user>/{address}", view.as_view(), name=f"api-{name}")
    for address, view, name in ENDPOINTS
]
