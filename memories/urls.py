from django.urls import path

from memories.api import (
    changes,
    contacts,
    context,
    edges,
    erasures,
    history,
    memories,
    messages,
    rewrite,
    search,
    users,
)

urlpatterns = [
    path("users/<path:user>/messages/", messages.Messages.as_view(), name="api-messages"),
    path("users/<path:user>/process/", messages.Process.as_view(), name="api-process"),
    path("users/<path:user>/context/", context.ContextView.as_view(), name="api-context"),
    path("users/<path:user>/search/", search.Search.as_view(), name="api-search"),
    path("users/<path:user>/memories/", memories.Memories.as_view(), name="api-memories"),
    path(
        "users/<path:user>/memories/merge/",
        rewrite.MergeMemories.as_view(),
        name="api-memories-merge",
    ),
    path(
        "users/<path:user>/memories/<uuid:memory_id>/",
        memories.OneMemory.as_view(),
        name="api-memory",
    ),
    path(
        "users/<path:user>/memories/<uuid:memory_id>/split/",
        rewrite.SplitMemory.as_view(),
        name="api-memory-split",
    ),
    path(
        "users/<path:user>/memories/<uuid:memory_id>/move/",
        memories.Move.as_view(),
        name="api-memory-move",
    ),
    path(
        "users/<path:user>/memories/<uuid:memory_id>/edges/",
        edges.MemoryEdges.as_view(),
        name="api-memory-edges",
    ),
    path(
        "users/<path:user>/memories/<uuid:memory_id>/edges/<int:edge_id>/",
        edges.OneEdge.as_view(),
        name="api-memory-edge",
    ),
    path(
        "users/<path:user>/memories/<uuid:memory_id>/history/",
        history.MemoryHistory.as_view(),
        name="api-memory-history",
    ),
    path(
        "users/<path:user>/contacts/<uuid:contact_id>/history/",
        history.ContactHistory.as_view(),
        name="api-contact-history",
    ),
    path(
        "users/<path:user>/contacts/<uuid:contact_id>/merge/",
        contacts.Merge.as_view(),
        name="api-contact-merge",
    ),
    path(
        "users/<path:user>/contacts/<uuid:contact_id>/split/",
        contacts.Split.as_view(),
        name="api-contact-split",
    ),
    path(
        "users/<path:user>/contacts/<uuid:contact_id>/not-the-same/",
        contacts.NotTheSame.as_view(),
        name="api-contact-not-the-same",
    ),
    path(
        "users/<path:user>/contacts/<uuid:contact_id>/resolve/",
        contacts.Resolve.as_view(),
        name="api-contact-resolve",
    ),
    path("users/<path:user>/changes/", changes.Changes.as_view(), name="api-changes"),
    path(
        "users/<path:user>/changes/<uuid:change_id>/",
        changes.OneChange.as_view(),
        name="api-change",
    ),
    path(
        "users/<path:user>/changes/<uuid:change_id>/undo/",
        changes.Undo.as_view(),
        name="api-change-undo",
    ),
    path(
        "users/<path:user>/forgetting/",
        erasures.Forgettings.as_view(),
        name="api-forgettings",
    ),
    path(
        "users/<path:user>/forgetting/<uuid:erasure_id>/erase/",
        erasures.Erase.as_view(),
        name="api-forgetting-erase",
    ),
    path("users/<path:user>/export/", users.Export.as_view(), name="api-export"),
    path("users/<path:user>/forget/", users.Forget.as_view(), name="api-forget"),
]
