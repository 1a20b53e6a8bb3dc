"""Invented sentences with the names in them: "kind:name", in no order; people known beforehand
stand behind a bar."""

GOLD = [
    line.split("|")
    for line in """
用户的姐姐陆遥在成都开了一家书店|place:成都 person:陆遥|陆遥
陆遥上个月从昆明搬到了苏州|place:昆明 place:苏州 person:陆遥|陆遥
用户最喜欢的书是《江边的灯塔》|work:江边的灯塔|
老陶毕业于武汉大学，现在在星渡科技公司做测试|organisation:武汉大学 organisation:星渡科技公司 person:老陶|老陶
妈妈在宁波第二医院做了手术|organisation:宁波第二医院|
用户周末去西湖散步|place:西湖|
用户在一家互联网公司上班||
同事小戴喜欢打羽毛球|person:小戴|小戴
他们打算十月去清迈和普吉岛度假|place:清迈 place:普吉岛|
用户看了电影《潮汐之城》，觉得一般|work:潮汐之城|
爸爸年轻时在大连当兵|place:大连|
小戴的女儿在海淀区实验小学读二年级|organisation:海淀区实验小学 person:小戴|小戴
用户每周三去健身房||
用户和老陶在腾讯实习时认识|organisation:腾讯 person:老陶|老陶
表哥在招商银行做客户经理|organisation:招商银行|
用户小时候住在长沙市岳麓区|place:长沙市 place:岳麓区|
外婆家在绍兴|place:绍兴|
陆遥养了一只叫芝麻的猫|person:陆遥|陆遥
用户对荞麦过敏||
用户正在读刘慈欣的《球状闪电》|person:刘慈欣 work:球状闪电|
老板让用户下周去日本出差|place:日本|
用户的手机丢在了首都机场|place:首都机场|
周末同学聚会，大家吃了火锅||
弟弟考上了南京大学的研究生|organisation:南京大学|
用户喜欢歌手林澜|person:林澜|
用户在玩游戏“深海邮差”|work:深海邮差|
她在杭州植物园拍了婚纱照|place:杭州植物园|
医生建议用户去大医院复查||
隔壁邻居把车停在了楼下||
用户想去看长城和故宫|place:长城 place:故宫|
老陶跳槽到华为了|organisation:华为 person:老陶|老陶
用户的公司在浦东新区，离陆家嘴很近|place:浦东新区 place:陆家嘴|
小学同学阿宽移民去了加拿大|person:阿宽 place:加拿大|阿宽
今年冬天特别冷，用户买了件羽绒服||
用户在Notionly上班|organisation:Notionly|
陆遥上海交通大学毕业后去了德国留学|person:陆遥 organisation:上海交通大学 place:德国|陆遥
用户每天坐地铁去公司||
用户的梦想是开一家咖啡馆||
奶奶信佛，常去灵隐寺|place:灵隐寺|
老陶和妻子在三亚度蜜月|person:老陶 place:三亚|老陶
Priya works at Hollowbrook Labs in Toronto.|person:Priya organisation:Hollowbrook_Labs place:Toronto|Priya
The user moved to Lisbon last spring.|place:Lisbon|
The user is allergic to peanuts.||
Marcus graduated from the University of Leeds in 2015.|person:Marcus organisation:University_of_Leeds|Marcus
Priya is reading the novel The Glass Orchard.|person:Priya work:The_Glass_Orchard|Priya
The user loves the film "Tides of Winter".|work:Tides_of_Winter|
Marcus had surgery at St. Brendan's Hospital.|person:Marcus organisation:St._Brendan's_Hospital|Marcus
The user goes to the gym every Tuesday.||
Her cousin lives in Austin and hates the heat.|place:Austin|
Austin is the user's brother.|person:Austin|Austin
The user plays chess with Marcus on Sundays.|person:Marcus|Marcus
They spent a week in Kyoto and Osaka.|place:Kyoto place:Osaka|
The user's daughter starts at Willow Creek Elementary School in September.|organisation:Willow_Creek_Elementary_School|
Marcus joined Fernhill Software as a designer.|person:Marcus organisation:Fernhill_Software|Marcus
The user wants to learn Spanish before summer.||
The user worked at Google for three years.|organisation:Google|
Nadia took the user to Griffith Park.|person:Nadia place:Griffith_Park|Nadia
The user bought a new phone yesterday.||
Nadia's favourite singer is Ilona Marsh.|person:Nadia person:Ilona_Marsh|Nadia
The user hikes around Lake Como each June.|place:Lake_Como|
My boss is from New Zealand.|place:New_Zealand|
Grandma grew up in Reading, near London.|place:Reading place:London|
The user is reading a book about bread.||
Nadia binge-watched Cold Harbour over the weekend.|person:Nadia work:Cold_Harbour|Nadia
The user studies at Oberlin College.|organisation:Oberlin_College|
He saw a dentist on Monday because of a toothache.||
Priya had an interview at Amazon on Friday.|person:Priya organisation:Amazon|Priya
The user met Daniel Whitcombe at a fair in Tallinn.|person:Daniel_Whitcombe place:Tallinn|
The user and Priya visited the British Museum.|person:Priya organisation:British_Museum|Priya
The user's sister teaches at a high school.||
Charlotte moved from Texas to Denver.|person:Charlotte place:Texas place:Denver|Charlotte
The user has lived in the United States since 2010.|place:United_States|
The user works for a small bank downtown.||
His band plays at Copper Lantern Cafe on Fridays.|organisation:Copper_Lantern_Cafe|
The user read "A Map of Salt" twice.|work:A_Map_of_Salt|
The user's dog Biscuit hates thunder.||
Nice weather made the user happy.||
The user will turn thirty in May.||
The user fears flying but flew to Iceland anyway.|place:Iceland|
""".strip().splitlines()
]
