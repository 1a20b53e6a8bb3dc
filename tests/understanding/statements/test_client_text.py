"""What clients write into a user's message, beside what the user wrote. The prompts are invented, in
the shapes that clients send."""

import pytest

from understanding.statements.client_text import (
    client_text,
    instructs_for_client,
    requests_for_client,
    without_client_text,
)
from understanding.statements.own_words import own_words

LETTER = "My brother Viktor lives in Minsk and works as a welder. I am allergic to nuts."


@pytest.mark.parametrize(
    ("message", "own"),
    [
        (
            f"### Assignment:\nUse what is given.\n<context><source id='1' name='letter.txt'>{LETTER}"
            "</source></context>\n<user_query>Where is Viktor?</user_query>",
            "Where is Viktor?",
        ),
        (
            f"### Duty:\nReply.\n### Output:\nBe clear.\n\n<context>\n<source>{LETTER}</source>\n"
            "</context>\n\nWhere is Viktor?",
            "Where is Viktor?",
        ),
        (f"<資料>{LETTER}</資料>\n<用户问题>小红在哪里？</用户问题>", "小红在哪里？"),
        (
            f"按资料作答\n\n## 标注规则：\n- 写明编号\n\n## 我的问题是：\n\n小红呢？\n\n## 参考资料：\n\n{LETTER}",
            "小红呢？",
        ),
        (f"Контекст:\n{LETTER}\n\nВопрос: Где Виктор?\nОтвет:", "Где Виктор?"),
        (f"Kontext:\n{LETTER}\n\nFrage: Wo ist Viktor?", "Wo ist Viktor?"),
        (f"Context is given below.\n-----\n{LETTER}\n-----\nQuery: And Viktor?\nAnswer: ", "And Viktor?"),
        (
            f"Attached document(s):\n```md\n# letter\n{LETTER}\n```\nWhere is Viktor?",
            "Where is Viktor?",
        ),
        (
            f"[file content begin]\n{LETTER}\n[file content end]\nWhere is Viktor?",
            "Where is Viktor?",
        ),
        (f"[NOTE 0]:\n{LETTER}\n[END NOTE 0]\n\nWhere is Viktor?", "Where is Viktor?"),
        (f"--- ATTACHED FILE: l.txt ---\n{LETTER}\n--- END FILE ---\nI moved.", "I moved."),
        (f"【资料开始】{LETTER}【资料结束】小红呢？", "小红呢？"),
        (
            f"I moved.\n<!-- ADDED -->\n<files_info><file name='l'>{LETTER}</file></files_info>\n"
            "<!-- END ADDED -->",
            "I moved.",
        ),
        (f"<prompt><documents>{LETTER}</documents>Where is he?</prompt>", "<prompt>\n\nWhere is he?</prompt>"),
        (
            "### Duty:\nCite by number, only where a <source> tag has one.\n### Output:\nGive a short answer "
            f"to the user's query.\n<context>\n<source id='1'>{LETTER}</source>\n</context>\n"
            "<user_query>\nWhere is Viktor?\n</user_query>",
            "Where is Viktor?",
        ),
        (f"<task>\nWhere is he?\n</task>\n<environment>{LETTER}</environment>", "Where is he?"),
        (f"### Context:\n{LETTER}\n\nWhere is Viktor?", "Where is Viktor?"),
        (f"Go by the following context:\n{LETTER}\n\nQuestion: Where is Viktor?", "Where is Viktor?"),
        (f"Use these passages.\nQuestion: And Viktor?\nContext: {LETTER}\nAnswer:", "And Viktor?"),
        (f"已知信息：{LETTER}\n用户问题：小红呢？\n回答要求：\n- 简短", "小红呢？"),
        (f"Where is Viktor?\n\n```letter.txt\n{LETTER}\n```", "Where is Viktor?"),
        (f'Attached file "letter":\n"""\n{LETTER}\n"""\nWhere is he?', "Where is he?"),
        (f"--- Content of attached files ---\n{LETTER}\n--- End of files ---\nWhere?", "Where?"),
        (f"[World Info: {LETTER}]\n\nWhere is Viktor?", "Where is Viktor?"),
        (f"Where is he?\n\n##CONTEXT##\n{LETTER}\n##CONTEXT##", "Where is he?"),
        (f"Kontext:\n{LETTER}\n\nFråga: Var är Viktor?", "Var är Viktor?"),
        (f"הקשר:\n{LETTER}\n\nשאלה: איפה ויקטור?", "איפה ויקטור?"),
        (f"<document><question>{LETTER}</question></document>\nWhere is he?", "Where is he?"),
    ],
)  # fmt: skip
def test_retrieved_and_attached_text_with_its_instructions_is_not_the_users(
    message: str, own: str
) -> None:
    assert without_client_text(message) == own
    assert LETTER not in own_words(message)
    assert len(own_words(message)) == len(message)


@pytest.mark.parametrize(
    "message",
    [
        "My sister Anna: she moved to Paris. <3 I <b>love</b> her.",
        "Context: I moved to Berlin last month. Question: what now?",
        "Notes:\n- my brother Viktor lives in Minsk\n- [x] call mum\n[1] and [end] of it",
        "<rant>My boss Tom fired me</rant>",
        "Rules:\n1. I cook\nTask: no nuts",
        "I <think of Anna as my sister [really]",
        "Context: I live in Berlin with Jana.\nQuestion: what now?",
        'Some lines for my brother:\n\n"""\nDear Viktor, I miss you.\n"""',
        "--- my list ---\nAnna is a nurse",
    ],
)
def test_what_people_write_themselves_is_theirs(message: str) -> None:
    assert client_text(message) == ()


@pytest.mark.parametrize(
    "message",
    [
        "### Task:\nCreate a short title of 3-5 words.\n<chat_history>\nUSER: I moved\n</chat_history>",
        "Give 3 tags for the conversation below as JSON.\nUser: I like tea.\nAssistant: Fine.",
        "Suggest four follow-up questions that may come next in this discussion, as an array only.",
        'Several models replied to: "I live in Rome, who is Kim?". Merge their answers into a single '
        "one of high quality. Responses: Kim is a nurse.",
        "[Pause the play. Summarize the chat so far in 100 words or less.]",
        "请为以下对话生成一个不超过十个字的标题\n用户：我住在罗马",
        "Fasse das folgende Gespräch in höchstens 5 Wörtern zusammen.\nUser: Ich wohne in Rom.",
        "Придумай короткий заголовок для этого диалога, без кавычек.",
        "user: I live in Rome\nassistant: Nice\n\nGive the chat above a title of at most 5 words.",
        "Rephrase the follow-up question of this chat as a stand-alone one.\nUser: I live in Rome",
    ],
)
def test_what_a_client_asks_for_itself_is_no_word_of_the_users(message: str) -> None:
    assert requests_for_client(message)
    assert not own_words(message).strip()


@pytest.mark.parametrize(
    "message",
    [
        "I had a long conversation with Anna, can you summarize it in short words?",
        "Summarize the book for me in 3 words",
        "Anna said our conversation yesterday about the topic was short.",
        "We combined the two chats, only Kim was sad",
        "Let's give the cat a short name",
        "我们聊天的主题只有一个",
    ],
)
def test_a_user_who_speaks_of_chats_and_titles_is_one(message: str) -> None:
    assert not requests_for_client(message)


def test_a_system_prompt_that_speaks_of_chats_in_passing_is_an_applications() -> None:
    assert instructs_for_client("你是助理，你需要将用户的会话总结为 10 个字以内的标题")
    assert not instructs_for_client(
        "You are a friendly chat companion. Keep answers brief. Summarize when asked."
    )
