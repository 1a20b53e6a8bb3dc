from django.urls import path

from dashboard.me import pages, verbs

urlpatterns = [
    path("<str:token>/", pages.home, name="me"),
    path("<str:token>/people/<uuid:contact>/", pages.person, name="me-person"),
    path("<str:token>/told/", pages.told, name="me-told"),
    path("<str:token>/changes/", pages.changes, name="me-changes"),
    path("<str:token>/export/", pages.export, name="me-export"),
    path("<str:token>/do/<slug:verb>/", verbs.act, name="me-do"),
]
