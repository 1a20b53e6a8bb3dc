"""What the layers below say is known to the dashboard, so that it can say it in Chinese."""

import ast
from collections.abc import Iterator
from pathlib import Path

from django.utils import translation

from contacts.coreference.weights import ZERO
from contacts.matching.spans import REASONS
from dashboard import told
from memories.pipeline.remote.submit import WHY_NOT

ROOT = Path(__file__).resolve().parents[2]
SPEAKING = ("contacts", "memories")
# What is shown when it is raised; the last are shown as errors of batches and jobs.
RAISED = {
    "InvalidMerge", "InvalidCorrection", "InvalidRelation", "InvalidContact", "CannotUndo",
    "UnknownContact", "UnknownPerson", "NothingToForget",
    "TransientError", "PermanentError", "OutputError",
}  # fmt: skip
# Calls that give a reason, whose last text it is.
REASONED = {"Choice", "FoundRelation", "Resolution", "Overlap", "Refinement", "Edge"}
REASON_KEYWORDS = {"reason", "why"}
# Functions that hand on what a machine said or an operator wrote, and constants.
CONSTANTS = {"WHY", "DIED", "FORGOTTEN", "CHANGED"}


def spoken(node: ast.expr) -> Iterator[str]:
    """The texts that an expression may be, with something in each hole."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.IfExp(body=one, orelse=other):
            yield from spoken(one)
            yield from spoken(other)
        case ast.JoinedStr(values=parts):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else _hole(ast.unparse(part))
                for part in parts
            )


def _hole(code: str) -> str:
    """What may stand where the code of a hole is."""
    if "label(" in code:
        return "company"
    return "former" if ".form" in code else "7"


def said_below() -> Iterator[tuple[str, str]]:
    """Every text that is raised, or given as a reason, with where it stands."""
    for app in SPEAKING:
        for file in sorted((ROOT / app).rglob("*.py")):
            at = str(file.relative_to(ROOT))
            if any(part in at for part in ("/api/", "/management/", "/migrations/", "/bench/")):
                continue
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                for expression in _expressions(node):
                    for text in spoken(expression):
                        yield text, f"{at}:{node.lineno}"  # type: ignore[attr-defined]


def _expressions(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name in RAISED and node.args:
            yield node.args[0]
        elif name in REASONED:
            texts = [arg for arg in node.args if list(spoken(arg))]
            yield from texts[-1:]
        elif name == "give_back_all":
            yield from node.args[1:]
        if name in REASONED | {"outdate", "hide", "verb", "merge", "split", "trim"}:
            yield from (word.value for word in node.keywords if word.arg in REASON_KEYWORDS)
    elif isinstance(node, ast.Assign):
        names = {target.id for target in node.targets if isinstance(target, ast.Name)}
        if names & CONSTANTS:
            yield node.value


def test_all_that_the_layers_below_say_is_known() -> None:
    missing = [
        f"{at}: {text}"
        for text, at in said_below()
        if text and " " in text and told.known(text) is None
    ]
    assert missing == []


def test_the_search_for_what_they_say_finds_what_is_raised_and_what_is_reasoned() -> None:
    found = {text for text, _at in said_below()}
    assert "A contact can't be merged into itself." in found
    assert "7 was merged into 7 already." in found
    assert "named together" in found
    assert "it is over since" in found


def test_why_somebody_is_meant_is_known_in_all_its_kinds() -> None:
    reasons = [reason.format(text="小红") for reason in REASONS.values()]
    assert [it for it in [*reasons, *ZERO, *WHY_NOT.values()] if told.known(it) is None] == []


def test_a_machine_speaks_chinese_to_a_chinese_reader() -> None:
    with translation.override("zh-hans"):
        assert told.told("the first name of Anna; 2 people answer to it") == (
            "“Anna”的名字；有 2 人符合"
        )
        assert told.told("spoken of last, subject, female") == "上一个提到的人，主语，女性"
        assert told.told("fits the description: company 腾讯; job title 医生") == (
            "符合描述：公司 腾讯；职业 医生"
        )
        assert told.told("company is now 字节, not 腾讯") == "公司现为“字节”，不再是“腾讯”"
        assert told.told("小红 was merged into 17 already.") == "“小红”已合并到 17。"


def test_what_no_table_knows_stays_as_it_was_said() -> None:
    with translation.override("zh-hans"):
        assert told.told("KeyError: 'x', and more") == "KeyError: 'x', and more"
        assert told.told("") == ""
