"""A talk in two languages, and a worker in a process of its own that takes it in."""

from datetime import timedelta

from memories.pipeline.buffer import Incoming
from tests.factories import SOME_DAY

TALK = [
    "我朋友小梅在华为当工程师。",
    "小梅住在东莞，养了一只狗。",
    "My colleague Oliver moved to Madrid last year.",
    "Oliver is allergic to shellfish.",
    "我妈的生日是4月9日，她喜欢跳舞。",
    "小梅上个月升职了。",
    "我喜欢喝乌龙茶。",
    "My sister Clara works as a dentist in Leeds.",
    "小梅打算明年去北京读研究生。",
    "Clara adopted a cat called Pepper.",
    "我老板姓周，脾气很急。",
    "我对花生过敏。",
]

PROCESS = """
from memories.pipeline import run
run.process(int(sys.argv[1]))
"""


def incoming(prefix="m", repeat=1):
    return [
        Incoming("user", text, id=f"{prefix}{n}", created_at=SOME_DAY + timedelta(minutes=n))
        for n, text in enumerate(TALK * repeat)
    ]
