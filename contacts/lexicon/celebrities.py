"""People whom a user's contact may share a name with, and what is said of them, not of
friends: songs, films, finals, verses."""

import re

CHINESE = frozenset(
    # singers and actors
    "周杰伦 王菲 李健 陈奕迅 林俊杰 张学友 刘德华 郭富城 黎明 张国荣 梅艳芳 邓丽君 王力宏 孙燕姿 蔡依林 张惠妹 梁静茹 李宗盛 "
    "罗大佑 周华健 任贤齐 张信哲 李克勤 谭咏麟 薛之谦 毛不易 华晨宇 邓紫棋 李荣浩 张杰 张靓颖 李宇春 周深 朴树 许巍 汪峰 那英 "
    "韩红 刘欢 孙楠 田震 王心凌 张韶涵 杨丞琳 田馥甄 萧亚轩 陶喆 方大同 刘若英 莫文蔚 王杰 齐秦 伍佰 崔健 窦唯 张楚 郑钧 老狼 "
    "高晓松 赵雷 宋冬野 李志 陈粒 谢春花 周笔畅 何洁 尚雯婕 胡彦斌 张碧晨 单依纯 李玟 郭德纲 于谦 岳云鹏 赵本山 宋丹丹 黄渤 "
    "徐峥 沈腾 马丽 贾玲 张译 王宝强 葛优 姜文 陈道明 李雪健 张国立 王志文 陈建斌 胡歌 霍建华 靳东 王凯 雷佳音 黄轩 肖战 王一博 "
    "李现 杨洋 朱一龙 邓伦 白敬亭 吴磊 易烊千玺 王俊凯 王源 刘昊然 张一山 杨紫 赵丽颖 杨幂 刘诗诗 刘亦菲 唐嫣 孙俪 邓超 周迅 赵薇 "
    "章子怡 范冰冰 李冰冰 巩俐 汤唯 舒淇 林志玲 林青霞 张曼玉 周星驰 周润发 梁朝伟 刘青云 古天乐 甄子丹 李连杰 成龙 洪金宝 吴京 张涵予 "
    "黄晓明 陈坤 佟大为 刘烨 陆毅 高圆圆 白百何 倪妮 周冬雨 马思纯 谭松韵 迪丽热巴 古力娜扎 关晓彤 张天爱 宋祖儿 赵露思 白鹿 金晨 "
    "王鸥 殷桃 闫妮 海清 宋佳 秦海璐 马伊琍 文章 何炅 谢娜 汪涵 撒贝宁 李佳琦 薇娅 李子柒 董宇辉 罗永浩 papi酱 "
    # directors and writers
    "张艺谋 陈凯歌 冯小刚 贾樟柯 王家卫 李安 侯孝贤 杨德昌 徐克 宁浩 郭帆 路阳 鲁迅 老舍 巴金 茅盾 冰心 钱钟书 张爱玲 沈从文 余华 莫言 "
    "贾平凹 王朔 王小波 路遥 三毛 金庸 古龙 琼瑶 海子 北岛 顾城 舒婷 余秀华 刘慈欣 韩寒 郭敬明 林清玄 龙应台 余光中 席慕蓉 徐志摩 "
    "朱自清 郁达夫 闻一多 林徽因 萧红 史铁生 阿来 毕飞宇 苏童 格非 马伯庸 "
    # poets and figures of the past
    "李白 杜甫 白居易 王维 孟浩然 李商隐 杜牧 王昌龄 岑参 高适 刘禹锡 柳宗元 韩愈 李贺 贺知章 王之涣 王勃 骆宾王 李煜 柳永 苏轼 苏东坡 "
    "李清照 辛弃疾 陆游 欧阳修 王安石 晏殊 秦观 文天祥 马致远 关汉卿 陶渊明 屈原 曹操 曹植 诸葛亮 刘备 关羽 张飞 赵云 孙权 周瑜 司马懿 "
    "吕布 貂蝉 司马迁 班固 孔子 孟子 庄子 老子 荀子 韩非 墨子 秦始皇 刘邦 项羽 韩信 张良 汉武帝 霍去病 卫青 王莽 李世民 武则天 杨贵妃 "
    "岳飞 秦桧 朱元璋 郑和 王阳明 康熙 乾隆 雍正 慈禧 林则徐 曾国藩 李鸿章 孙中山 蔡元培 胡适 梁启超 梁思成 林黛玉 贾宝玉 薛宝钗 王熙凤 "
    "宋江 武松 林冲 鲁智深 李逵 孙悟空 唐僧 猪八戒 沙僧 哪吒 杨过 小龙女 郭靖 黄蓉 令狐冲 张无忌 赵敏 周芷若 乔峰 段誉 韦小宝 祥子 "
    # athletes, founders, scientists
    "姚明 易建联 刘翔 李娜 郑钦文 林丹 谌龙 李宗伟 张继科 马龙 樊振东 王楚钦 孙颖莎 陈梦 丁宁 刘诗雯 张怡宁 邓亚萍 王楠 刘国梁 孔令辉 郎平 "
    "朱婷 惠若琪 张常宁 孙杨 张雨霏 叶诗文 潘展乐 全红婵 郭晶晶 田亮 陈若琳 吴敏霞 苏炳添 谷爱凌 武大靖 王濛 韩天宇 羽生结弦 武磊 李铁 "
    "范志毅 郝海东 孙继海 邵佳一 王霜 丁俊晖 柯洁 李宁 马云 马化腾 李彦宏 雷军 任正非 刘强东 王兴 张一鸣 黄峥 丁磊 王健林 董明珠 俞敏洪 "
    "钱学森 邓稼先 袁隆平 钟南山 屠呦呦 杨振宁 李政道 丘成桐 陈景润 华罗庚 南仁东 施一公 张文宏 雷锋 焦裕禄".split()
)
CHINESE_CUES = re.compile(
    r"《|》|那首|这首|首歌|新歌|老歌|专辑|演唱会|单曲|翻唱|歌词|歌手|唱的|演的|主演|出演|饰演|扮演|导演|电影|电视剧|综艺|新剧|票房|影帝|影后|"
    r"冠军|夺冠|决赛|金牌|奥运|世界杯|世锦赛|法网|澳网|温网|美网|全明星|NBA|中超|国足|球迷|退役|诗|词|小说|散文|原著|名著|史书|三国|西游|水浒|红楼|"
    r"粉丝|偶像|追星|热搜|代言|出道|塌房|绯闻|明星|网红|直播间|带货|传记|纪录片|语录|课文|历史|朝代|皇帝|大将|战役|创办|创始人|首富|诺贝尔"
)

ENGLISH = frozenset(
    "adele beyonce rihanna drake madonna cher prince shakira pink sia lorde eminem kanye taylor ariana "
    "billie lizzo dua oprah ellen messi ronaldo serena venus lebron kobe tiger elvis bono sting moby "
    "usher usain pele neymar zendaya timothee leonardo picasso dante homer plato socrates aristotle "
    "caesar cleopatra napoleon shakespeare hamlet macbeth romeo juliet ophelia gatsby frodo gandalf "
    "bilbo harry hermione ron dumbledore batman robin superman sherlock watson alice cinderella "
    "rapunzel ariel belle elsa anna moana shrek simba nemo dory woody buzz homer bart marge".split()
)
ENGLISH_CUES = re.compile(
    r"\b(?:album|concert|song|songs|tour|lyrics|single|movie|film|films|sequel|season \d|episode|netflix|disney|pixar|marvel|"
    r"soundtrack|fans?|celebrity|starring|stars? in|novel|chapter|book club pick|grammys?|oscars?|olympics|world cup|"
    r"championship|playoffs|nba|nfl|ballon|halftime|superbowl|super bowl|sonnet|trilogy|franchise|character)\b"
)
