"""What a careful interviewer says to what a user mentions: general rules, without a word of any scenario."""

import re
from dataclasses import dataclass

__all__ = ["ADVICE", "FOLLOW_UPS", "PROBLEM", "REQUEST", "SUBJECTS", "TOPICS", "Rule", "Topic"]


@dataclass(frozen=True, slots=True)
class Rule:
    """What to say to a user who mentions something.

    Attributes:
        heard: what the user mentions, looked for in lower-case text.
        say: the message; "{}" stands for the words of the first group of `heard`.
    """

    heard: re.Pattern[str]
    say: str


@dataclass(frozen=True, slots=True)
class Topic:
    """A matter that is worth asking about in any conversation.

    Attributes:
        question: goes for it.
        told: the words of a user who has said it unasked, so that there is no need to ask.
        again: the question in other words, for a user who had nothing to say to the first.
    """

    question: str
    told: re.Pattern[str] | None = None
    again: str = ""


def _rule(heard: str, say: str) -> Rule:
    return Rule(re.compile(rf"\b(?:{heard})"), say)


def _topic(question: str, *, told: str = "") -> Topic:
    return Topic(question, re.compile(rf"\b(?:{told})") if told else None)


_KIN = (
    "mother|mum|mom|father|dad|sister|brother|aunt|uncle|cousin|grandmother|grandma|granny|gran|grandfather|grandpa|"
    "son|daughter|husband|wife|niece|nephew|granddaughter|grandson|fiancé"
)
_MATES = "colleague|workmate|mate|friend|apprentice|trainee|intern|assistant|deputy|helper|partner"
_AUTHORITY = "council|authority|committee|ministry|association|union|management|bank|insurer|court|office"
_DAYS = "(?:mon|tues|wednes|thurs|fri|satur|sun)days?"

REQUEST = Topic("Could you tell me what this is about?", again="What kind of thing is it?")
PROBLEM = Topic("What is the main problem at the moment?", again="What makes it so difficult?")
TOPICS = (
    REQUEST,
    PROBLEM,
    _topic(
        "Which hours of the day do you have for it?",
        told=r"every morning|in the evenings?\b|hours? (?:a|each|every) (?:day|week)|from \w+ (?:till|until|to) \w+",
    ),
    _topic(
        "Are there any rules or permissions that you have to respect?",
        told=r"allowed\b|forbid|banned|bans?\b|the law\b|lease says|has to (?:sign|approve)",
    ),
    _topic("Is there anything dangerous about it?"),
    _topic(
        "Is there a deadline?",
        told=rf"deadline|(?:in|within) (?:a |\w+ )?(?:days?|weeks?|months?|fortnight)\b|weeks from|"
        rf"(?:by|before|until) (?:{_DAYS}|the end|spring|summer|autumn|winter)",
    ),
    _topic("Do you have any help?", told=r"(?:can|would) help|lends?\b|alone\b"),
    _topic("Is anybody against it?"),
    _topic("How much money do you have for it?", told=r"euros?\b|pounds\b|dollars\b|budget|afford|savings"),
    _topic("Do language or communication play a role?"),
    _topic("How many people are involved?"),
    _topic("What equipment do you have for it?"),
    _topic("Are there other people who depend on it?"),
    _topic("What would you like to achieve in the end?"),
    _topic("How much experience do you have with this?"),
    _topic("What have you tried so far, and how did it go?"),
)
"""In the order in which they are worth asking: what it is and what the problem is first."""

FOLLOW_UPS = (
    # What is missing, and the way round it.
    _rule(r"(licen[cs]e|certificate|permit|diploma)\b", "How could you get the {}?"),
    _rule(r"no (?:computer|internet|tools?|car)\b|only one old (?:tele)?phone", "Where could you get one?"),
    _rule(r"(?:van|car|truck|machine|engine)\b.{0,40}(?:broken?|dead|bits)\b", "Could you rent or borrow another one?"),
    _rule(r"failed|is banned|not allowed|forbid|switched off", "How would you manage without it?"),
    _rule(r"versions|copies|two lists", "Which one is the valid one?"),
    # People who want something, or do not.
    _rule(r"complain|object\b|sues?\b|to court|quarrel|reject|against", "What would they accept?"),
    _rule(r"demands?\b|insists?\b|requires?\b", "What do they want it for?"),
    _rule(rf"(?:the|our|my|an?)(?: \w+)? ({_AUTHORITY})\b", "What does the {} want before it agrees?"),
    _rule(r"refus|turned down|never hear|no answer|form letters|fail to|never walk|stay away|don't come",
          "What reasons do they give?"),
    _rule(r"boss|chief|manager|supervisor", "Who could talk to them instead of you?"),
    _rule(r"walked out|before me|predecessor", "Who could tell you the truth about it?"),
    _rule(rf"({_KIN}|{_MATES})\b.{{0,40}}(?:away|far|lives)\b", "How could your {} be reached?"),
    _rule(rf"({_KIN}|{_MATES})\b.{{0,40}}(?:help|come|lend|mornings|{_DAYS})", "What is your {} able to do?"),
    _rule(r"retired|moved away|has left|wrote it|made it", "How can you reach them?"),
    _rule(r"parental leave|broke (?:his|her|an) arm|is ill\b|fell ill", "Who could step in?"),
    # What somebody can do and bear, likes and dislikes.
    _rule(r"diabet|vegetarian|eats? no\b|won't eat", "What can they eat, and what not?"),
    _rule(r"diabet|allerg|prescri|specialist", "What would the health insurance pay for?"),
    _rule(r"stammer|nerv|panic|stage fright|freeze", "What helps you when that happens?"),
    _rule(r"for a (?:colleague|friend)|surprise|farewell", "What do they like, and what can't they stand?"),
    _rule(r"(?<!good )nights?\b", "What happens at night?"),
    # Plans.
    _rule(r"(exam|audit|inspection|test)\b", "What will the {} be about?"),
    _rule(r"concert|recital|performance", "What is on the programme?"),
    _rule(r"walk .{0,30}days|on foot|hike|overnight", "Where do you sleep?"),
    _rule(r"apply for|application", "Which references do you have?"),
    _rule(r"manuscript|poems?\b|novel|thesis|memoirs", "How long is it?"),
    _rule(rf"({_KIN})\b", "What does your {} say about it?"),
)  # fmt: skip
"""To what the user has just said; the more special ones first."""

SUBJECTS = (
    _rule(r"refus|turned down|reject|never hear|no answer|form letters|show up", "What reasons do they give?"),
    _rule(r"food|cook|bake|bread|meals?\b|dinner|menu|restaurant|coffee|dentist|tooth|pupils",
          "Are there any allergies?"),
    _rule(r"kitchen|room|hall|workshop|studio|garage|shop|building|flat|roof|theatre|space|place\b|sell|business|"
          r"fixing|inherited", "Does the place belong to you, or do you rent it?"),
    _rule(r"writ|book|letter|memoir|poem|thesis|transcript|files|manuscript|documents?\b|code|website",
          "Can you work at a screen?"),
    _rule(r"writ|book|memoir|poem|manuscript|files|code|trades|famil", "In which language is it?"),
    _rule(rf"(?:{_KIN}|sick|ill|blind|deaf|stroke|flight|fly|travel|journey|walk|climb|ladder|safest|sport|football|"
          rf"dance|nurse)\b", "Does anybody involved have allergies or a medical condition?"),
    _rule(r"quarrel|stopped talking|object|agree|against|explode|complain|class|wedding|choir|team|brigade|ward",
          "How many people are involved?"),
    _rule(r"festival|stage|suitcase|van\b|move|transport", "What has to be carried?"),
    _rule(r"flight|fly\b|travel|journey|trip|abroad|class|taxi|drive\b|island|hospital",
          "How do you get there, and who fetches you?"),
    _rule(r"offered|decide|worth", "What is uncertain about it?"),
    _rule(r"offered|contract|job\b|hotel", "What does the contract say?"),
    _rule(r"surprise|show\b|festival|concert|farewell|demo|live\b|last time", "What could go wrong on the day?"),
    _rule(r"server|software|app\b|machine|device|engine|clock|alarm|worked fine|breaks|grow",
          "What happens exactly when it goes wrong?"),
    _rule(r"from scratch|redo|remake|suit\b", "Which parts must be kept?"),
    _rule(r"build|sew|carve|paint|make\b|wood|cloth|stage|show\b", "Is there any material that you can't use?"),
    _rule(r"say something|have to tell|announce|confess|own up", "What may you say, and what not?"),
    _rule(r"repair|fixing|broken?\b|crack|dent|leak", "What would the repair cost?"),
    _rule(r"order\b|looking for|fits", "What are the exact requirements?"),
)  # fmt: skip
"""To what the conversation is about."""

ADVICE = (
    _rule(r"lease|landlord|drill|nails|screw", "You could get furniture on wheels, so that nothing has to be screwed "
          "to the wall."),
    _rule(r"speaks? (?:only|no\b|\w+ only)|(?:no|not one word of) english|languages?\b|dialect",
          "You could ask a colleague who speaks the language to interpret for you."),
    _rule(r"forget|scraps|scribbl|slips? through|lose track",
          "You could hang up a checklist on paper and tick off every step."),
    _rule(r"stopped talking|do(?:es)? not speak|don't speak|quarrel",
          "You could ask a neutral person whom both sides trust to mediate between them."),
    _rule(r"last bus|no bus|bus goes",
          "You could arrange lifts, so that those who have a car take the others along."),
    _rule(r"abroad|overseas|far away", "You could do it by video call, with somebody beside them who helps."),
    _rule(r"explode|shout|angry|furious|tired|hungry",
          "I would choose a quiet moment for it, after a meal or on a walk."),
    _rule(r"nois[ey]|whisper|loud|silen",
          "You could agree on quiet hours in the morning and leave the afternoon to the others."),
    _rule(r"wind\b|heat\b|hot\b", "You could work early in the morning, before the wind or the heat gets up."),
    _rule(r"airport|planes?\b|flight|fly\b", "You could ask the airline for help when you book."),
    _rule(r"questions?\b|host\b", "You could ask the host to send the questions beforehand."),
    _rule(r"won't fold|too (?:big|large|long|heavy)|metres long",
          "You could leave the big things at home and use only what you can carry."),
    _rule(r"wheelchairs?", "You could lay a ramp at the entrance."),
    _rule(r"pain|hurts|tooth|swollen", "You could go to the emergency department of the hospital."),
    _rule(r"quote|repair|rattle|broken", "You could borrow one from somebody for that day."),
    _rule(r"feathers|vet\b|the (?:bird|dog|cat|animal)", "You could have a vet look at it first."),
    _rule(r"echo", "You could hang heavy blankets or curtains on the walls to swallow the sound."),
    _rule(r"sold|sells? out|all gone", "You could let people reserve in advance."),
    _rule(r"guarantee|debts?\b|owing", "You could sell tickets in advance."),
    _rule(rf"(?:each|every) (?:week|night|{_DAYS})", "You could set up a rota, so that several people take turns."),
    _rule(r"walk to work|commut|learn", "You could record it and listen to it on the way."),
    _rule(r"loses? (?:his|her|the) words|stroke",
          "You could record it beforehand and play it when the moment comes."),
    _rule(r"memor(?:y|ies)",
          "I would begin with the part that means the least to you and leave the hardest for the end."),
    _rule(r"stranger|don't know (?:the|any)|new (?:town|place)",
          "You could visit a few places for a day before you settle."),
    _rule(r"lost a parent|bereaved|mourn|grie[fv]",
          "You could speak with those who are hit hardest in private before the others hear it."),
    _rule(r"idea|risk|trial", "You could start small, with a trial for a few weeks, before you commit to the whole."),
)  # fmt: skip
"""To what the user has told; the latest message first."""
