"""Every page of the dashboard with an address that shows something."""

from types import SimpleNamespace
from typing import Any, cast

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.test import RequestFactory
from django.urls import URLPattern, reverse

from accounts.models import Change, EndUser
from contacts.models import Contact
from dashboard import urls
from imports.models import Import
from memories.erasure import receipts
from memories.models import Edge, Link, Receipt

#: What an address needs behind it to show something, by the name of the page.
ASKING = {
    "contact_sources": "?m={memory}",
    "contact_move": "?memory={memory}",
    "contact_split": "?memory={memory}",
    "forget-memories": "?memory={memory}",
    "pick": "?q={name}",
    "find": "?q={name}",
}
#: Pages that are several.
ALSO = {
    "contact": ["?tab=memories", "?tab=timeline", "?tab=relations", "?tab=changes"],
    "contacts": ["?q={name}", "?only=suggested", "?sort=name"],
    "memories": ["?q={name}", "?status=outdated"],
    "pipeline": ["?state=quarantined"],
    "conflicts": ["?at={edge}"],
    "calls": ["?kind=embed&outcome=failed"],
}


def is_page(pattern: URLPattern) -> bool:
    """Whether the view answers a GET, before it looks at who asks for what."""
    request = cast(HttpRequest, RequestFactory().get("/"))
    nobody = SimpleNamespace(is_authenticated=True, has_perm=lambda _permission: False)
    request.user = nobody  # type: ignore[assignment]
    try:
        answer = pattern.callback(request)
    except PermissionDenied:
        return True
    return bool(answer.status_code != 405)


PAGES = [p for p in urls.urlpatterns if p.name not in ("login", "logout", "theme") and is_page(p)]
KINDS = [str(p.name) for p in PAGES] + [name + more for name in ALSO for more in ALSO[name]]


def addresses(end_user: EndUser) -> dict[str, str]:
    """The address of each kind of page, of this end user where it is one's."""
    link = Link.objects.of(end_user).filter(rejected=False, memory__kind="fact").order_by("pk")[0]
    others = Contact.objects.of(end_user).standing().light().exclude(pk=link.contact_id)
    other = others.order_by("-mention_count", "name_key", "namesake")[0]
    made = {"end_user": end_user, "verb": "confirm", "actor": "operator:ada"}
    change = Change.objects.of(end_user).first() or Change.objects.create(**made)
    import_ = Import.objects.of(end_user).first() or Import.objects.create(end_user=end_user)
    by = receipts.By("operator:ada")
    gone = receipts.write(end_user, Receipt.What.PERSON, by, receipts.Forgotten())
    real: dict[str, Any] = {
        "user": end_user.pk,
        "app": end_user.app_id,
        "contact": link.contact_id,
        "one": link.contact_id,
        "other": other.pk,
        "memory": link.memory_id,
        "link": link.pk,
        "change": change.pk,
        "receipt": gone.receipt,
        "chat": import_.pk,
    }
    edge = Edge.objects.of(end_user).filter(kind=Edge.Kind.CONFLICTS).first()
    values = {
        **real,
        "edge": edge.pk if edge else "",
        "name": Contact.objects.light().get(pk=link.contact_id).name[:20],
    }
    found = {}
    for pattern in PAGES:
        name = str(pattern.name)
        given = {key: real[key] for key in pattern.pattern.converters}
        at = reverse(f"dashboard:{name}", kwargs=given)
        found[name] = at + ASKING.get(name, "").format(**values)
        for more in ALSO.get(name, ()):
            found[name + more] = at + more.format(**values)
    return found
