import uuid

from hypothesis import given
from hypothesis import strategies as st

from contacts.models import Contact
from memories import profiles
from memories.corrections import derived
from memories.types import AttributeValue, Profile, ProfilePatch, TimelineEvent

A, B, C = (uuid.UUID(int=n) for n in (1, 2, 3))


def attribute(value, *sources):
    return AttributeValue(value, sources)


def test_a_replaced_attribute_takes_the_new_value_only():
    profile = Profile(attributes={"company": (attribute("Tencent", A),)})
    patch = ProfilePatch(
        attributes={"company": (attribute("Ali", B),)}, replaces=frozenset({"company"})
    )
    assert profiles.apply(profile, patch).attributes == {"company": (attribute("Ali", B),)}


def test_the_same_value_again_gains_a_source_instead_of_a_twin():
    profile = Profile(attributes={"interests": (attribute("Hiking", A),)})
    patch = ProfilePatch(attributes={"interests": (attribute("hiking", B), attribute("tea", B))})
    assert profiles.apply(profile, patch).attributes == {
        "interests": (attribute("Hiking", A, B), attribute("tea", B))
    }


def test_the_newest_value_of_a_single_attribute_stands_first():
    profile = Profile(attributes={"location": (attribute("Beijing", A),)})
    patch = ProfilePatch(attributes={"location": (attribute("Chengdu", B),)})
    values = profiles.apply(profile, patch).attributes["location"]
    assert [v.value for v in values] == ["Chengdu", "Beijing"]


def test_events_are_in_order_of_happening_and_stand_once():
    profile = Profile(timeline=(TimelineEvent("promoted", "2025-06", (A,)),))
    patch = ProfilePatch(
        timeline=(
            TimelineEvent("met in college", "2015", (B,)),
            TimelineEvent("promoted", "2025-06", (C,)),
        )
    )
    assert profiles.apply(profile, patch).timeline == (
        TimelineEvent("met in college", "2015", (B,)),
        TimelineEvent("promoted", "2025-06", (A, C)),
    )


def test_events_without_a_date_keep_their_place_until_one_is_told():
    moved, met = TimelineEvent("moved", "2019", (A,)), TimelineEvent("met the user", "", (A,))
    held = profiles.apply(Profile(), ProfilePatch(timeline=(moved, met)))
    later = ProfilePatch(
        timeline=(TimelineEvent("promoted", "2021", (B,)), TimelineEvent("born", "1990", (B,)))
    )
    texts = [event.text for event in profiles.apply(held, later).timeline]
    assert texts == ["born", "moved", "met the user", "promoted"]
    dated = ProfilePatch(timeline=(TimelineEvent("Met the user", "2018", (C,)),))
    assert profiles.apply(held, dated).timeline == (
        TimelineEvent("met the user", "2018", (A, C)),
        moved,
    )


def test_what_rested_on_a_lost_memory_goes_and_its_other_sources_are_read_again():
    profile = Profile(
        attributes={
            "company": (attribute("Tencent", A),),
            "interests": (attribute("hiking", A, B), attribute("tea", B)),
        },
        personality="kind",
        personality_sources=(C,),
        timeline=(TimelineEvent("moved", "2024", (A, C)),),
    )
    left, again = profiles.without(profile, {A})
    assert left == Profile(
        attributes={"interests": (attribute("tea", B),)},
        personality="kind",
        personality_sources=(C,),
    )
    assert again == {B, C}


IDS = st.sampled_from([A, B, C])
VALUES = st.builds(
    AttributeValue,
    st.sampled_from(["x", "y", "z"]),
    st.lists(IDS, max_size=3, unique=True).map(tuple),
)
ATTRIBUTES = st.dictionaries(
    st.sampled_from(["company", "interests"]), st.lists(VALUES, min_size=1, max_size=4).map(tuple)
)
EVENTS = st.lists(
    st.builds(
        TimelineEvent,
        st.sampled_from(["moved", "met"]),
        st.sampled_from(["", "2024", "2025-01"]),
        st.lists(IDS, max_size=2, unique=True).map(tuple),
    ),
    max_size=4,
).map(tuple)
PATCHES = st.builds(
    ProfilePatch,
    attributes=ATTRIBUTES,
    replaces=st.frozensets(st.sampled_from(["company", "interests"])),
    timeline=EVENTS,
    personality=st.none() | st.just("kind"),
    personality_sources=st.just((A,)),
)


@given(st.lists(PATCHES, max_size=4))
def test_applying_a_patch_twice_changes_nothing_more(patches):
    profile = Profile()
    for patch in patches:
        once = profiles.apply(profile, patch)
        assert profiles.apply(once, patch) == once
        profile = once


@given(st.lists(PATCHES, max_size=4), st.frozensets(IDS))
def test_nothing_left_rests_on_a_lost_memory(patches, lost):
    profile = Profile()
    for patch in patches:
        profile = profiles.apply(profile, patch)
    left, again = profiles.without(profile, lost)
    kept = [s for values in left.attributes.values() for v in values for s in v.sources]
    kept += [s for event in left.timeline for s in event.sources] + [*left.personality_sources]
    assert lost.isdisjoint(kept)
    assert lost.isdisjoint(again)


@given(PATCHES)
def test_a_profile_survives_its_way_through_json(patch):
    profile = profiles.apply(Profile(), patch)
    contact = Contact()
    derived.set_profile(contact, profile)
    assert derived.profile_of(contact) == profile


@given(st.lists(PATCHES, max_size=12))
def test_what_a_provider_is_shown_stays_bounded(patches):
    profile = Profile()
    for patch in patches:
        profile = profiles.apply(profile, patch)
    shown = profiles.bounded(profile)
    assert all(len(values) <= profiles.SHOWN_VALUES for values in shown.attributes.values())
    assert len(shown.timeline) <= profiles.SHOWN_EVENTS
