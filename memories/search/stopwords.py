"""Words that carry no search value: function words of documents, question words of queries.

Closed word classes only (articles, pronouns, auxiliaries, prepositions, conjunctions,
particles), compiled by hand. Words that are also months or given
names ("may", "will", "mark") stay in: document frequency already makes them cheap.
"""

_ENGLISH = """
a an the this that these those and or but nor so yet if then than because while although
though as of at by for with about against between into through during before after above
below to from up down in out on off over under again once here there also too very just
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his
himself she her hers herself it its itself they them their theirs themselves one ones
am is are was were be been being have has had having do does did doing done would should
could can shall might must not no nor only own same such both each few more most other some
any all don doesn didn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn can't
s t d ll m re ve o y oh yeah yes hey hi hello wow ok okay really
"""
_ENGLISH_QUESTIONS = """
what who whom whose which when where why how many much often long kind type ever tell know
mentioned mention according please
"""
_CHINESE = """
的 了 着 过 吗 呢 吧 啊 呀 嘛 哦 嗯 哈 啦 哎 地 得 之 其 是 有 在 和 与 跟 同 或 或者 及 以及
也 都 就 还 又 才 再 而 而且 但 但是 不过 因为 所以 因此 如果 虽然 然后 那么 于是 并 并且
我 我们 咱 咱们 你 您 你们 他 她 它 他们 她们 它们 自己 这 那 这个 那个 这些 那些 这样 那样
这里 那里 一 一个 一种 一些 个 些 被 把 给 对 对于 于 从 到 向 往 为 为了 以 由 将 让 使 比
很 太 真 非常 更 最 会 要 能 可以 可能 应该 需要 上 下 里 中 内 等 没 没有 不 不是 就是 还是 只是
之间 以后 以前 之后 之前 时候 里面 上面 关于 其中 来说 说 来 去 这位 那位 位 名
"""
_CHINESE_QUESTIONS = """
什么 什么样 啥 谁 哪 哪个 哪位 哪些 哪里 哪儿 哪年 哪天 几 多少 多大 多久 多高 多长 怎么 怎样 怎么样
如何 为何 为什么 何 何时 何地 是否 是不是 有没有 能否 请问 告诉 知道 记得 问 请
"""

#: Left out of documents and queries.
STOP_WORDS = frozenset((_ENGLISH + _CHINESE).split())
#: Left out of queries besides.
QUESTION_WORDS = frozenset((_ENGLISH_QUESTIONS + _CHINESE_QUESTIONS).split())
#: Nouns that only carry a description ("the one who …", 那个…的人): no memory answers by them.
HEADS = frozenset("人 活动 家伙 东西 事情 事 地方 person peopl one event activ thing place".split())
