"""CSV of Google Contacts, in the header of today and the older one, in and out."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.reasons import Skipped
from imports.dumps import google_csv, read_book
from imports.types import Entry, NotReadable, Related
from understanding.names import name_key


def read(raw, skipped=None):
    return list(google_csv.people(raw, skipped or Skipped()))


NOW = (
    "First Name,Middle Name,Last Name,Phonetic First Name,Nickname,File As,Organization Name,"
    "Organization Title,Organization Department,Birthday,Notes,Photo,Labels,E-mail 1 - Label,"
    "E-mail 1 - Value,Phone 1 - Label,Phone 1 - Value,Phone 2 - Label,Phone 2 - Value,"
    "Address 1 - Label,Address 1 - Formatted,Address 1 - Street,Address 1 - City,"
    "Address 1 - PO Box,Address 1 - Region,Address 1 - Postal Code,Address 1 - Country,"
    "Address 1 - Extended Address,Relation 1 - Label,Relation 1 - Value,Event 1 - Label,"
    "Event 1 - Value,Custom Field 1 - Label,Custom Field 1 - Value\r\n"
)
XIA = (
    '知夏,,沈,zhixia,夏夏 ::: 小夏,,青禾设计,设计师,品牌部, --08-03,"不吃香菜\n也不吃葱",'
    "https://lh3.example/photo.jpg,* myContacts,* Work,zhixia@example.org ::: xia@example.org,"
    'Mobile,+86 139 0000 2222,Home,010 1234,Home,"中国\n浙江",望江路 8 号,杭州,,浙江,310000,中国,,'
    "Spouse,Tom Becker,Anniversary,2016-05-20,WeChat,xia_88\r\n"
)
OLDER = (
    "Name,Given Name,Additional Name,Family Name,Nickname,Birthday,Gender,Occupation,Notes,"
    "Group Membership,E-mail 1 - Type,E-mail 1 - Value,Phone 1 - Type,Phone 1 - Value,"
    "Organization 1 - Name,Organization 1 - Title,Relation 1 - Type,Relation 1 - Value\n"
    "Dr. Tom Becker,Tom,,Becker,Tommy,1990-04-17,male,Baker,,* myContacts,Home,tom@example.org,"
    "Mobile,+49 30 000,Acme; Sons,,friend,沈知夏\n"
)


def cells(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_a_row_of_today_is_read_with_all_that_it_says():
    (xia,) = read((NOW + XIA).encode("utf-8-sig"))
    assert (xia.name, xia.aliases) == ("沈知夏", ("夏夏", "小夏"))
    assert xia.attributes == {
        "birthday": ("08-03",),
        "company": ("青禾设计",),
        "job_title": ("设计师",),
        "department": ("品牌部",),
        "phone": ("+86 139 0000 2222", "010 1234"),
        "email": ("zhixia@example.org", "xia@example.org"),
        "address": ("中国浙江杭州望江路 8 号",),
        "location": ("杭州",),
        "anniversary": ("2016-05-20",),
    }
    assert xia.related == (Related("Tom Becker", "spouse"),)
    assert xia.notes == ("不吃香菜\n也不吃葱", "WeChat: xia_88")


def test_a_row_of_the_older_header_is_read():
    (tom,) = read(OLDER.encode())
    assert (tom.name, tom.aliases, tom.gender) == (
        "Tom Becker",
        ("Dr. Tom Becker", "Tommy"),
        "male",
    )
    assert tom.attributes == {
        "birthday": ("1990-04-17",),
        "company": ("Acme; Sons",),
        "job_title": ("Baker",),
        "phone": ("+49 30 000",),
        "email": ("tom@example.org",),
    }
    assert tom.related == (Related("沈知夏", "friend"),)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_the_encodings_of_spreadsheets_are_read(encoding):
    dump = read_book((NOW + XIA).encode(encoding))
    assert (dump.format, dump.entries[0].name) == ("google-csv", "沈知夏")


def test_what_a_spreadsheet_saves_with_tabs_is_read():
    text = "First Name\tLast Name\tPhone 1 - Value\r\nAnn\tLee\t1 ::: 2\r\n"
    (ann,) = read(text.encode("utf-16"))
    assert (ann.name, ann.attributes) == ("Ann Lee", {"phone": ("1", "2")})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Name,Phone\nAnn,1\n", "CSV of Google Contacts"),
        ("First Name,Last Name\n", "Nobody is in this file"),
        ("First Name,Last Name\n,\n", "Nobody is in this file"),
        pytest.param("First Name,Last Name\n" + "Ann,\n" * 20_001, "more than 20000", id="crowd"),
    ],
)
def test_what_is_no_such_table_is_refused_with_its_row(text, said):
    with pytest.raises(NotReadable, match=said):
        read_book(text.encode())


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("Bo,Li,x\n", "Row 2 has more cells than the first row names columns."),
        ('"Bo,Li\n', "Row 2 can't be read"),
        ('"B"o,Li\n', "Row 2 can't be read"),
        (f"Bo,{'x' * 200_000}\n", "Row 2 can't be read"),
    ],
)
def test_a_row_that_can_not_be_read_is_named_and_the_others_are_read(row, said):
    skipped = Skipped()
    found = read(f"First Name,Last Name\nAnn,Lee\n{row}Eva,Berg\n".encode(), skipped)
    assert [(one.number, one.name) for one in found] == [(1, "Ann Lee"), (3, "Eva Berg")]
    assert (skipped.count, str(skipped.named[0])[: len(said)]) == (1, said)


def test_a_row_with_a_company_alone_is_no_person():
    text = "First Name,Last Name,File As,Organization Name\n,,Acme,Acme\nAnn,Acme,,Acme\n"
    assert [one.name for one in read(text.encode())] == ["", "Ann Acme"]


@pytest.mark.parametrize("raw", [b"", b"hello", b"\xff\xfe\x00", b"PK\x03\x04", b"[{}]"])
def test_what_is_no_address_book_says_so(raw):
    with pytest.raises(NotReadable, match="vCard file"):
        read_book(raw)


def test_no_cell_is_a_formula_and_numbers_stay_as_they_are():
    attributes = {"phone": ("+86 139 0000 2222",), "birthday": ("08-03",), "company": ("@cmd",)}
    entry = Entry(1, '=HYPERLINK("http://evil")', ("-2+3+cmd|' /C calc'!A0", "'=1"), attributes,
                  notes=("+1 is a formula",))  # fmt: skip
    (row,) = cells(google_csv.write([entry]))
    assert row["First Name"].startswith("'=")
    assert row["Nickname"].startswith("'-2")
    assert (row["Organization Name"], row["Notes"]) == ("'@cmd", "'+1 is a formula")
    assert (row["Phone 1 - Value"], row["Birthday"]) == ("+86 139 0000 2222", "--08-03")
    assert read(google_csv.write([entry]).encode()) == [entry]


WORDS = st.text(st.sampled_from("ab Z,;'\\\n\"=+-@小红𠮷é👩‍👧#"), min_size=1, max_size=30)
VALUES = WORDS.map(lambda text: " ".join(text.split())).filter(
    lambda text: any(map(str.isalpha, text))
)


@given(
    name=VALUES.map(lambda text: f"n{text}"),
    aliases=st.lists(VALUES.map(lambda text: f"红{text}"), max_size=3),
    values=st.lists(VALUES, max_size=3, unique=True),
    note=WORDS.map(str.strip).filter(bool),
)
def test_what_is_written_is_read_back(name, aliases, values, note):
    keys = {name_key(name)}
    kept = [a for a in aliases if name_key(a) not in keys and not keys.add(name_key(a))]
    held = {key: tuple(values) for key in ("company", "phone", "email", "interests", "job_title")}
    entry = Entry(1, name, tuple(kept), held if values else {}, "朋友", "female",
                  (Related(name, "friend"),), (note,), 2)  # fmt: skip
    assert read(google_csv.write([entry]).encode()) == [entry]
