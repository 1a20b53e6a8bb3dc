"""Invented pairs of memories and how they stand: newer or telling one first. ``>`` the first is
the source, ``<`` the second is; nothing behind the bar: they have nothing to do with each other."""

PAIRS = [
    tuple(part.strip() for part in line.split("|"))
    for line in """
    用户因为膝盖受伤停止了长跑训练 | 用户三月份膝盖受伤了 | causes<
    用户由于房租上涨搬到了郊区 | 用户住处的房租上涨了 | causes<
    老陶辞职是因为和上司合不来 | 老陶和上司合不来，常有争执 | causes<
    连续加班导致用户失眠 | 用户最近连续加班 | causes<
    用户对猫毛过敏，所以没有养猫 | 用户对猫毛过敏 | causes<
    用户为了参加马拉松每天早起跑步 | 用户打算参加明年的马拉松 | motivated_by>
    小戴为了考上研究生辞掉了工作 | 小戴想要考上研究生 | motivated_by>
    用户学习西班牙语是为了去智利工作 | 用户计划去智利工作 | motivated_by>
    用户因为想开面馆，所以在攒钱 | 用户的梦想是开一家面馆 | motivated_by>
    用户昨天去游泳馆游泳了 | 用户每周三去游泳 | instance_of>
    陆遥上周六去爬山 | 陆遥每个周末都去爬山 | instance_of>
    用户今天早上在公园练太极 | 用户每天早上在公园练太极 | instance_of>
    老陶喜欢吃香菜 | 老陶讨厌香菜 | conflicts
    用户不喜欢看恐怖片 | 用户喜欢看恐怖片 | conflicts
    用户检查结果显示没有得肺炎 | 用户怀疑自己得了肺炎 | invalidated_by<
    其实面试官没有取消面试 | 其实面试官没有取消面试会 |
    结果用户并没有被裁员 | 用户担心自己会被裁员 | invalidated_by<
    用户不再喝咖啡了 | 用户每天早上喝咖啡 | supersedes>
    小戴戒掉了打游戏 | 小戴经常打游戏 | supersedes>
    用户喜欢咖啡 | 用户每天走路上班 |
    用户上周去了苏州 | 用户的姐姐住在苏州 |
    陆遥在银行工作 | 陆遥养了一只猫 |
    老陶喜欢爬山 | 小戴讨厌爬山 |
    用户因为堵车迟到了 | 用户买了一辆新车 |
    用户为了减肥不吃晚饭 | 用户喜欢吃火锅 |
    用户每周去健身房 | 用户昨天在健身房门口遇到了老陶 |
    用户怀疑冰箱坏了 | 用户没有时间去超市 |
    用户喜欢跑步 | 用户不喜欢跑步机 |
    用户每天早上喝咖啡 | 用户喜欢喝茶 |
    妈妈每周日做饺子 | 用户昨天吃了饺子 |
    小戴不再去健身房 | 用户每周去健身房 |
    用户因为生病取消了聚会 | 用户参加了同学聚会 |
    用户打算去云南旅行 | 用户去年去过云南 |
    老陶的儿子五岁了 | 老陶的女儿在读高中 |
    用户每个月给父母寄钱 | 用户上周给父母打了电话 |
    用户为了健康开始吃素 | 用户的医生说他很健康 |
    The user stopped running because of a knee injury. | The user had a knee injury in March. | causes<
    Marcus moved to the suburbs because his rent went up. | Marcus's rent went up by a third. | causes<
    Losing the contract led to layoffs at Priya's company. | There were layoffs at Priya's company. | causes>
    The user sleeps badly due to night shifts at the hospital. | The user works night shifts at the hospital. | causes<
    The user is saving money in order to buy a sailing boat. | The user wants to buy a sailing boat. | motivated_by>
    Priya takes Portuguese lessons to prepare for a posting in Brazil. | Priya hopes for a posting in Brazil. | motivated_by>
    The user gets up at five in order to train for the triathlon. | The user signed up for a triathlon. | motivated_by>
    The user went swimming yesterday. | The user goes swimming every Tuesday. | instance_of>
    Marcus played squash with Tom last week. | Marcus plays squash every week. | instance_of>
    The user hates olives. | The user loves olives. | conflicts
    Nadia can't stand techno. | Nadia loves techno. | conflicts
    Tests showed that the user does not have asthma. | The user suspected asthma. | invalidated_by<
    It turned out the landlord did not sell the flat. | The landlord was expected to sell the flat. | invalidated_by<
    The user no longer drinks coffee. | The user drinks coffee every morning. | supersedes>
    Nadia quit smoking. | Nadia smokes every day. | supersedes>
    The user likes coffee. | The user walks to work. |
    The user went to Porto last week. | The user's sister lives in Porto. |
    Marcus works at a bank. | Marcus has a cat. |
    Marcus loves hiking. | Priya hates hiking. |
    The user was late because of traffic. | The user bought a new car. |
    The user goes to the gym every Monday. | The user met Priya outside the gym yesterday. |
    The user loves jazz. | The user hates jazz clubs that are crowded. |
    The user skips dinner in order to lose weight. | The user loves dinner parties. |
    The user thinks the fridge is broken. | The user did not go to the supermarket. |
    Priya's mother bakes bread every Sunday. | The user ate bread yesterday. |
    The user cancelled the trip because of a cold. | The user took a trip to Wales. |
    The user's son is five. | The user's daughter is at university. |
    The user stopped eating meat. | The user's brother eats meat every day. |
    The user plans to visit Iceland. | The user visited Iceland in 2019. |
    Marcus sends money home every month. | Marcus called home last week. |
    The user reads every evening. | The user read a review yesterday. |
    """.strip().splitlines()
]
