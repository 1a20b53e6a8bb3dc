"""Which messages ask to forget something, and which only speak of it."""

import pytest

from memories.text import forget_intent

REQUESTS = """
忘掉我说的关于小兰的事
把我跟你讲过的大鹏的病都删了吧
我之前说的关于我妹妹的那些话，你忘了吧
刚才那句话不要记
别把这个记下来
这个就不用记了
这段你别存
当我没说
就当没听见吧
你就当我什么都没说过
关于我前女友的一切，请全部清除
帮我把工资那段删掉
麻烦忘记我刚刚提到的住址
我后悔告诉你了，把那些都抹掉
我不想让你记得阿强的事
请不要保留我说的关于手术的内容
别再记着我老板骂我的事了
以后不要再提小陈了，把他忘了
能不能忘掉我刚才说的话
刚才那些都不算，别记
你可以忘了我跟你说的离婚的事吗
这件事不要留底
可不可以把关于老周的记忆删除
请把小丽从你的记忆里删掉
把有关我爸的信息都清空
这事儿过去了，你也忘了吧
please forget that
forget what I told you about Nina
Can you forget everything I said about my ex?
delete everything about my sister
Please delete what you know about Tom
erase all you have on my old boss
wipe whatever I told you about the surgery
don't remember this
Do not store that, please
please don't keep what I just said
scratch that, don't save it
I never said that, ok?
Pretend I never mentioned Lucy
Let's pretend I didn't say that
You can forget about the job thing I told you
I'd rather you didn't remember that
I want you to forget my address
Remove anything about Carla from your memory
Stop remembering things about Jake
Could you please unlearn what I said about dad's illness
Strike that from your memory
That was private, please don't record it
Forget I said anything about the divorce
Forget I ever told you about Max
forget my salary
Keep that off the record
please get rid of everything you know about Paul
I take back what I said about Ella, delete it
no need to remember that
you don't need to remember this
Never mind what I said about Oscar, forget it all
This stays between us, don't note it down
"""
TALK = """
别忘了带伞
我忘了带钥匙
我忘了告诉你，小兰搬家了
她老忘了吃药
老板忘了我的生日
把那封邮件删掉
别记错了
那件事我已经忘了
我忘不掉他
我一直忘不了前男友
小兰让我忘了她
他说忘了吧，咱们重新开始
我妈叫我别记仇
我想忘掉他，可是做不到
你别忘了提醒我
我把他微信删了
他把我删了
我不记得了
要怎么忘记一个人
忘掉一个人要多久
我删了朋友圈
别不要我
他当我没说，继续吃
我跟她说了，她当没听见
小兰删掉了我们的合照
记得把垃圾清空
医生叫我别存侥幸心理
老师说不要记笔记
这歌叫《忘掉你》
我已经把工作的事忘得一干二净
我怕我会忘记他的样子
她说"忘了我吧"
千万别忘记我妈的生日
我差点忘了说，大鹏升职了
I forgot my keys
I forgot to tell you that Nina moved
Don't forget what I said about the cake
don't forget to call mom
I can't forget him
I'll never forget that trip
He told me to forget it
She said "forget everything I told you"
My sister forgets everything
I deleted his number
He deleted all our photos
I want to forget about him but I can't
How do I forget someone?
I don't remember this place
I don't remember what he said
I don't remember anything about that night
Please delete the file
Forget the umbrella, it's sunny
my boss told me to delete everything about the project
I never said that to him
He pretended I never said that
We should erase the whiteboard
Delete my alarm
remove everything from my calendar
let me not forget that Tom is allergic to nuts
My therapist says I should forget what he did
do not forget my birthday
You never remember what I say
I wish I could forget what she said
forget about dinner, I'm too tired
Don't save me a seat
I don't keep anything in the garage
I tried to forget everything about Berlin
can you remember this for me?
please remember what I told you about Nina
Never forget that I love you
"""


@pytest.mark.parametrize("line", REQUESTS.strip().splitlines())
def test_many_ways_of_asking_are_understood(line: str):
    assert forget_intent.may_ask(line)
    assert forget_intent.may_ask(f"对了。{line}。" if "，" in line else f"Oh! {line}.")


@pytest.mark.parametrize("line", TALK.strip().splitlines())
def test_who_only_speaks_of_forgetting_asks_for_nothing(line: str):
    assert not forget_intent.may_ask(line)


@pytest.mark.parametrize(
    "content",
    [
        "看看这段歌词：「忘掉我说的一切，忘掉这个」",
        "> please forget what I told you",
        "```\nforget everything I said\n```",
        "<mio-memory>\nPlease forget everything about Nina.\n</mio-memory>",
        "assistant: forget what I told you",
        "今天天气不错，我们去爬山吧",
        "",
    ],
)
def test_words_that_are_not_the_users_own_ask_for_nothing(content: str):
    assert not forget_intent.may_ask(content)
