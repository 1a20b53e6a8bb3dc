"""Address books in and out: what a card says, who is already known, what can't be read."""

import json
from io import StringIO

import pytest
from django.core.management import call_command
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import Change, EndUser
from accounts.reasons import Skipped
from contacts import store
from contacts.models import Contact, Relation
from imports.dumps import read_book, vcard
from imports.dumps.person_fields import MAX_BYTES
from imports.dumps.vcard import write
from imports.types import Entry, NotReadable, Related
from memories.models import Memory
from tests.factories import json_value, make_app, make_contact, make_end_user
from understanding.names import name_key


def read(raw, skipped=None):
    return list(vcard.people(raw, skipped or Skipped()))


BOOK = """BEGIN:VCARD
VERSION:3.0
FN:沈知夏
N:沈;知夏;;;
NICKNAME:夏夏,小夏
BDAY:1992-08-03
ORG:青禾设计;品牌部
TITLE:设计师
TEL;TYPE=CELL:+86 139 0000 2222
EMAIL:zhixia@example.org
ADR;TYPE=HOME:;;望江路 8 号;杭州;浙江;;中国
item1.X-ABRELATEDNAMES:Tom Becker
item1.X-ABLabel:_$!<Spouse>!$_
NOTE:沈知夏不吃香菜\\, 也不吃葱
END:VCARD
BEGIN:VCARD
VERSION:4.0
FN:Tom Becker
N:Becker;Thomas;;Dr.;
NICKNAME:Tommy
BDAY:--0417
ORG:Acme\\; Sons
TEL;VALUE=uri;TYPE=home:tel:+49-30-000
RELATED;TYPE=friend;VALUE=text:沈知夏
RELATED;TYPE=parent;VALUE=text:Nobody Known
NOTE:Met at the
  harbour
END:VCARD
"""


@pytest.fixture
def file(tmp_path):
    def write(content):
        path = tmp_path / "book.vcf"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


def run(*args):
    out = StringIO()
    call_command(*args, stdout=out)
    return json.loads(out.getvalue().splitlines()[-1])


def test_a_card_is_read_with_all_that_it_says():
    xia, tom = read(BOOK.encode())
    assert (xia.name, xia.aliases) == ("沈知夏", ("夏夏", "小夏"))
    assert xia.attributes == {
        "birthday": ("1992-08-03",),
        "company": ("青禾设计",),
        "department": ("品牌部",),
        "job_title": ("设计师",),
        "phone": ("+86 139 0000 2222",),
        "email": ("zhixia@example.org",),
        "address": ("中国浙江杭州望江路 8 号",),
        "location": ("杭州",),
    }
    assert xia.related == (Related("Tom Becker", "spouse"),)
    assert xia.notes == ("沈知夏不吃香菜, 也不吃葱",)
    assert (tom.name, tom.aliases) == ("Tom Becker", ("Thomas Becker", "Tommy"))
    assert tom.attributes["birthday"] == ("04-17",)
    assert tom.attributes["company"] == ("Acme; Sons",)
    assert tom.attributes["phone"] == ("+49-30-000",)
    assert tom.notes == ("Met at the harbour",)


def test_version_2_1_with_quoted_printable_and_its_own_charset():
    old = (
        "BEGIN:VCARD\r\nVERSION:2.1\r\n"
        "N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=E6=9D=8E;=E6=95=8F\r\n"
        "FN;CHARSET=UTF-8;QUOTED-PRINTABLE:=E6=9D=8E=\r\n=E6=95=8F\r\nTEL;CELL:123456\r\nEND:VCARD\r\n"
    )
    (entry,) = read(old.encode())
    assert (entry.name, entry.aliases) == ("李敏", ())
    chinese = "BEGIN:VCARD\nVERSION:2.1\nFN;CHARSET=GB18030:李敏\nEND:VCARD\n".encode("gb18030")
    assert read(chinese)[0].name == "李敏"


@pytest.mark.parametrize(("name", "encoding"), [("李敏", "gb18030"), ("Jürgen Müller", "cp1252")])
def test_an_encoding_that_nothing_names_is_found_by_the_bytes(name, encoding):
    card = f"BEGIN:VCARD\nVERSION:2.1\nN:;{name};;;\nFN:{name}\nEND:VCARD\n"
    assert [entry.name for entry in read(card.encode(encoding))] == [name]


def test_a_line_folded_in_the_middle_of_a_character_is_read():
    raw = "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:沈知夏\r\nEND:VCARD\r\n".encode()
    cut = raw.index("知".encode()) + 1
    assert read(raw[:cut] + b"\r\n " + raw[cut:])[0].name == "沈知夏"


def test_a_relation_by_uid_names_the_person():
    text = (
        "BEGIN:VCARD\nVERSION:4.0\nFN:Ann\nUID:urn:uuid:1\nEND:VCARD\n"
        "BEGIN:VCARD\nVERSION:4.0\nFN:Bo\nRELATED;TYPE=sibling:urn:uuid:1\nEND:VCARD\n"
    )
    assert read(text.encode())[1].related == (Related("Ann", "sibling"),)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"FN:Ann\n", "give a vCard file"),
        (b"\x00\x01\x02" * 10, "give a vCard file"),
        (b"hello BEGIN:VCARD\n", "Nobody is in this file"),
        pytest.param(b"BEGIN:VCARD\n" + b"x" * MAX_BYTES, "larger than", id="too large"),
    ],
)
def test_what_is_no_vcard_is_refused_with_its_place(content, said):
    with pytest.raises(NotReadable, match=said):
        read_book(content)


ANN = b"BEGIN:VCARD\nFN:Ann\nEND:VCARD\n"


@pytest.mark.parametrize(
    ("content", "names", "said"),
    [
        (b"hello\n" + ANN, ["Ann"], ["At the start, line 1, stands outside a vCard."]),
        (ANN[:-10], ["Ann"], ["Entry 1 has no END:VCARD: what there is of it was read."]),
        (ANN[:-10] + b"\n" + ANN, ["Ann"] * 2, ["Entry 1 has no END:VCARD: what there is of it was read."]),
        (ANN + b"BEGIN:VCARD\nbroken line\nFN:Bo\nEND:VCARD\n", ["Ann", "Bo"], ["Entry 2, line 5, can't be read."]),
        (b"BEGIN:VCARD\nFN:Ann\nADR:;;\xff\xfe\xfa\nEND:VCARD\n", ["Ann"], ["Line 3 has characters that can't be read."]),
        (b"BEGIN:VCARD\nFN:Ann\nORG;CHARSET=KLINGON;ENCODING=QUOTED-PRINTABLE:=41\nEND:VCARD\n", ["Ann"], ["Entry 1, line 3, can't be read."]),
        (b"BEGIN:VCARD\nFN:Ann\nORG;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=FF=FE\nEND:VCARD\n", ["Ann"], ["Entry 1, line 3, can't be read."]),
    ],
)  # fmt: skip
def test_what_is_whole_is_read_and_the_rest_is_named_by_its_line(content, names, said):
    skipped = Skipped()
    assert [entry.name for entry in read(content, skipped)] == names
    assert (skipped.count, list(map(str, skipped.named))) == (len(said), said)


@pytest.mark.parametrize(
    "note",
    ["met in Rome\nlikes tea", "met in Rome\n\nlikes tea", "met in Rome\nHotel: likes tea",
     "met in Rome\nhttps://a.example/x?likes tea", "met in Rome\n- likes tea;"],
)  # fmt: skip
def test_a_note_with_real_line_breaks_is_one_note(note):
    skipped = Skipped()
    text = f"BEGIN:VCARD\nFN:Ann\nNOTE:{note}\nTEL:12345\nEND:VCARD\n"
    (ann,) = read(text.encode(), skipped)
    assert ann.notes == (note.replace("\n\n", "\n"),)
    assert ann.attributes == {"phone": ("12345",)}
    assert skipped.count == 0


@pytest.mark.parametrize(
    "lines",
    ["FN:Acme\nX-ABShowAs:COMPANY", "FN:Acme\nKIND:org", "FN:Choir\nX-ADDRESSBOOKSERVER-KIND:group",
     "FN:The Harbour\nKIND:location", "FN:Acme GmbH\nN:;;;;\nORG:Acme GmbH;", "FN:Acme\nN:Acme;;;;\nORG:Acme",
     "FN:Lamp\nKIND:Thing", "FN:Acme\nORG:Acme;Sales\nTEL:1", "FN:Choir\nX-EVOLUTION-LIST:TRUE",
     "FN:Choir\nMEMBER:urn:uuid:1", "FN:Choir\nX-MOZILLA-TYPE:list", "FN:+49 30 1234\nTEL:+49 30 1234",
     "FN:ann@example.org\nEMAIL:ann@example.org"],
)  # fmt: skip
def test_companies_groups_and_places_are_no_people(lines):
    (entry,) = read(f"BEGIN:VCARD\n{lines}\nEND:VCARD\n".encode())
    assert (entry.name, entry.aliases) == ("", ())


@pytest.mark.parametrize(
    "lines",
    ["FN:Ann Berg\nN:Berg;Ann;;;\nORG:Ann Berg", "FN:Ann\nORG:Acme", "FN:Ann\nKIND:individual",
     "N:Berg;Ann;;;\nFN:Berg\\, Ann\nORG:Acme"],
)  # fmt: skip
def test_who_has_a_name_of_their_own_is_a_person(lines):
    (entry,) = read(f"BEGIN:VCARD\n{lines}\nEND:VCARD\n".encode())
    assert entry.name in ("Ann Berg", "Ann")


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("BDAY:1992-08-03T00:00:00Z", "birthday", "1992-08-03"),
        ("BDAY:1992/8/3", "birthday", "1992-08-03"),
        ("BDAY:3.8.1992", "birthday", "1992-08-03"),
        ("BDAY:--8-3", "birthday", "08-03"),
        ("BDAY:0000-08-03", "birthday", "08-03"),
        ("X-ANDROID-CUSTOM:vnd.android.cursor.item/contact_event;1992-08-03;3;;", "birthday", "1992-08-03"),
        ("item1.X-ABDATE:2010-05-01\nitem1.X-ABLabel:_$!<Anniversary>!$_", "anniversary", "2010-05-01"),
        ("X-MS-ANNIVERSARY:20100501", "anniversary", "2010-05-01"),
    ],
)  # fmt: skip
def test_dates_are_read_as_programs_write_them(line, key, value):
    (ann,) = read(f"BEGIN:VCARD\nFN:Ann\n{line}\nEND:VCARD\n".encode())
    assert ann.attributes == {key: (value,)}


def test_nicknames_and_relatives_of_android_and_others_are_read():
    text = (
        "BEGIN:VCARD\nFN:Ann\nX-ANDROID-CUSTOM:vnd.android.cursor.item/nickname;Annie;1;;\n"
        "X-ANDROID-CUSTOM:vnd.android.cursor.item/relation;Tom;14;;\nX-ASSISTANT:Eva\n"
        "X-ANDROID-CUSTOM:vnd.android.cursor.item/relation;Li;0;Godmother\nRELATED:urn:uuid:1\nEND:VCARD\n"
    )
    (ann,) = read(text.encode())
    assert ann.aliases == ("Annie",)
    assert ann.related == (
        Related("Tom", "spouse"),
        Related("Eva", "assistant"),
        Related("Li", "Godmother"),
    )


def test_a_picture_of_lines_without_folds_is_left_out_in_silence():
    picture = "PHOTO;ENCODING=BASE64;JPEG:/9j/4AAQSkZJRgABAQ\r\nAAAQABAAD/2wBD\r\nAQEB==\r\n\r\n"
    text, skipped = f"BEGIN:VCARD\r\nFN:Ann\r\n{picture}TEL:1\r\nEND:VCARD\r\n", Skipped()
    (ann,) = read(text.encode(), skipped)
    assert (ann.attributes, skipped.count) == ({"phone": ("1",)}, 0)
    (bo,) = read(b"BEGIN:VCARD\rFN:Bo\rEND:VCARD\r", skipped)
    assert (bo.name, skipped.count) == ("Bo", 0)


@pytest.mark.django_db
def test_an_address_book_becomes_contacts(file):
    make_end_user(app=make_app(name="default"), external_id="zoe", language="zh")
    figures = run("import_chat", "--user", "zoe", file(BOOK), "--json")
    assert (figures["new"], figures["changed"], figures["memories"]) == (2, 0, 2)
    end_user = EndUser.objects.get(external_id="zoe")
    xia = store.find(end_user, "沈知夏")[0]
    assert xia.aliases == ["夏夏", "小夏"]
    assert xia.attributes["company"] == [json_value("青禾设计")]
    stated = Relation.objects.of(end_user).values_list("subject__name", "kind", "object__name")
    assert set(stated) == {("Tom Becker", "配偶", "沈知夏"), ("沈知夏", "朋友", "Tom Becker")}
    xia.refresh_from_db()
    assert "配偶：Tom Becker" in xia.card
    contents = set(Memory.objects.of(end_user).values_list("content", flat=True))
    assert contents == {"沈知夏不吃香菜, 也不吃葱", "Tom Becker：Met at the harbour"}
    assert len(xia.memory_ids) == 1


def state(end_user):
    return (
        list(Contact.objects.of(end_user).order_by("name_key", "namesake").values(
            "name", "aliases", "attributes", "relationship", "gender", "namesake", "card")),
        sorted(Relation.objects.of(end_user).values_list("subject__name", "kind", "object__name")),
        sorted(Memory.objects.of(end_user).values_list("content", flat=True)),
    )  # fmt: skip


def without_cards(end_user):
    contacts, *rest = state(end_user)
    return [{key: row[key] for key in row.keys() - {"card"}} for row in contacts], rest


@pytest.mark.django_db
def test_a_second_import_changes_nothing(file):
    book = file(BOOK)
    run("import_chat", "--user", "zoe", book, "--json")
    end_user = EndUser.objects.get(external_id="zoe")
    before, changes = state(end_user), Change.objects.count()
    figures = run("import_chat", "--user", "zoe", book, "--json")
    assert (figures["new"], figures["changed"], figures["memories"], figures["relations"]) == (
        0,
    ) * 4
    assert (state(end_user), Change.objects.count()) == (before, changes)


CARD = "BEGIN:VCARD\nVERSION:4.0\nFN:{}\n{}\nEND:VCARD\n"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "fields", "card"),
    [
        ("夏夏", {}, CARD.format("沈知夏", "NICKNAME:夏夏")),
        ("Elizabeth Stone", {"birthday": "1990-02-01"}, CARD.format("Liz Stone", "BDAY:19900201")),
        ("知夏", {"birthday": "8月3日"}, CARD.format("沈知夏", "BDAY:1992-08-03")),
        ("沈知夏", {"phone": "13900002222"}, CARD.format("Shen Zhixia", "TEL:+8613900002222")),
    ],
)
def test_a_person_who_is_known_is_not_made_again(file, name, fields, card):
    end_user = make_end_user(app=make_app(name="default"), external_id="zoe")
    attributes = {key: [json_value(value)] for key, value in fields.items()}
    contact = make_contact(end_user, name, attributes=attributes)
    run("import_chat", "--user", "zoe", file(card), "--json")
    assert [c.id for c in Contact.objects.of(end_user)] == [contact.id]


@pytest.mark.django_db
def test_two_people_of_one_name_and_different_birthdays_stay_two(file):
    end_user = make_end_user(app=make_app(name="default"), external_id="zoe")
    make_contact(end_user, "王磊", attributes={"birthday": [json_value("1980-01-01")]})
    book = file(CARD.format("王磊", "BDAY:1995-05-05"))
    assert run("import_chat", "--user", "zoe", book, "--json")["new"] == 1
    assert run("import_chat", "--user", "zoe", book, "--json")["new"] == 0
    assert Contact.objects.of(end_user).count() == 2


@pytest.mark.django_db
def test_what_is_known_outlives_an_address_book(file):
    end_user = make_end_user(app=make_app(name="default"), external_id="zoe")
    contact = make_contact(end_user, "Ann", attributes={"company": [json_value("Acme")]})
    run(
        "import_chat",
        "--user",
        "zoe",
        file(CARD.format("Ann", "ORG:Old Ltd\nTEL:1234567")),
        "--json",
    )
    contact.refresh_from_db()
    assert store.flat_attributes(contact) == {"company": "Acme", "phone": "1234567"}


@pytest.mark.django_db
def test_a_broken_line_is_counted_and_all_else_is_taken_in(file):
    broken = BOOK + "BEGIN:VCARD\nnonsense\nFN:Kim Novak\nEND:VCARD\n"
    figures = run("import_chat", "--user", "zoe", file(broken), "--json")
    assert figures["unreadable"] == 1
    assert Contact.objects.filter(name="Kim Novak").exists()


@pytest.mark.django_db
def test_cards_without_a_name_are_counted_and_left_out(file):
    figures = run("import_chat", "--user", "zoe", file(CARD.format("", "TEL:1234567")), "--json")
    assert (figures["entries"], figures["skipped"], figures["new"]) == (1, 1, 0)


@pytest.mark.django_db
@pytest.mark.parametrize("version", ["3", "4"])
def test_an_export_imported_again_is_the_same_address_book(file, tmp_path, version):
    first = make_end_user(app=make_app(name="default"), external_id="zoe", language="zh")
    run("import_chat", "--user", "zoe", file(BOOK), "--json")
    make_contact(
        first, "Zoë; O'Neil, Jr. 👩‍👧", aliases=["a,b", "c;d", "e\\n"], relationship="朋友", gender="female",
        attributes={"interests": [json_value("登山; 摄影, 🎷"), json_value("x\\y")],
                    "company": [json_value("甲"), json_value("乙")], "birthday": [json_value("五月初五")]},
    )  # fmt: skip
    make_contact(first, "王磊")
    store.create(first, "王磊", namesake=True)
    out = str(tmp_path / "out.vcf")
    call_command("export_vcard", "--user", "zoe", out, "--version", version, stdout=StringIO())
    second = make_end_user(app=first.app, external_id="eve", language="zh")
    run("import_chat", "--user", "eve", out, "--json")
    # The people on a card stand in the order in which their relations were made.
    assert without_cards(second) == without_cards(first)
    assert run("import_chat", "--user", "zoe", out, "--json")["changed"] == 0


WORDS = st.text(st.sampled_from("ab Z,;:\\\n\"'=小红𠮷é👩‍👧#-"), min_size=1, max_size=40)
VALUES = WORDS.map(lambda text: " ".join(text.split())).filter(bool)


@given(
    # A name with a colon may read as the address of another card.
    name=VALUES.map(lambda text: " ".join(f"n{text}".replace(":", "").split())),
    aliases=st.lists(VALUES.map(lambda text: f"红{text}"), max_size=3),
    values=st.lists(VALUES, max_size=3, unique=True),
    note=WORDS.map(str.strip),
    kind=VALUES.filter(lambda text: not text.startswith("_")),
    version=st.sampled_from([3, 4]),
)
def test_what_is_written_is_read_back(name, aliases, values, note, kind, version):
    keys = {name_key(name)}
    kept = [a for a in aliases if name_key(a) not in keys and not keys.add(name_key(a))]
    held = {key: tuple(values) for key in ("company", "phone", "email", "interests", "job_title")}
    entry = Entry(
        1, name, tuple(kept), held if values else {}, "朋友", "female",
        (Related(name, kind),), (note,) if note else (), 2,
    )  # fmt: skip
    text = write([entry], version)
    assert read(text.encode()) == [entry]
    assert all(len(line.encode()) <= 75 for line in text.split("\r\n"))
