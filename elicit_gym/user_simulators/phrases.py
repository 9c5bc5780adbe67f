"""What the scripted user says where no fact of the scenario answers. Each list is walked through turn by turn."""

from collections.abc import Mapping
from typing import Literal

from elicit_gym.understanding.clauses import WhWord
from elicit_gym.understanding.small_talk import Talk

__all__ = [
    "ADVICE_HEARD",
    "BEFORE_HINT",
    "CONTRARY", "ECHOES", "GUARDED", "LEAVING", "MORE", "NOTHING_TO_TELL", "NUDGES", "PROGRESS", "REMARKS",
    "REPEATS", "SMALL_TALK", "STUCK", "TOLD", "UNCLEAR",
]  # fmt: skip

NUDGES = (
    "That is all rather general, and you don't know my situation yet.",
    "Hm, this could have been written to anybody.",
    "I can't do much with that, it doesn't touch my case.",
    "You are guessing instead of finding out what I'm up against.",
    "That's a lot of words for someone who knows nothing of me yet.",
    "I've read lines like these elsewhere already.",
    "None of that tells me that you know what I'm dealing with.",
    "You could find out a bit more before you talk.",
)
SMALL_TALK: Mapping[Talk | None, tuple[str, ...]] = {
    None: ("All right.", "Very well.", "Yes.", "Fine.", "Good."),
    "permission": ("Sure, go ahead.", "Yes, do.", "Of course, ask away.", "Go on, please."),
    "sympathy": (
        "Thanks, that's kind of you.",
        "Yes, well, that's how it is.",
        "It is what it is, I suppose.",
        "You could say so.",
    ),
    "check": ("I suppose so.", "I think so, yes.", "More or less.", "I dare say."),
    "anything_else": (
        "You'd have to ask me something more definite.",
        "I'm sure there is, but what would you like to know?",
        "Ask me, and I'll tell you.",
    ),
    "greeting": ("I've been better, thanks for asking.", "Not too bad, thank you.", "So so, to be honest."),
    "more": (
        "There isn't much more to say about that.",
        "That's about all I can say on it.",
        "I've told you what I know about that.",
    ),
}
"""By what kind of small talk it was."""
MORE = ("To be exact, ", "To say a bit more, ", "To put it differently, ")
TOLD = (
    "I've told you all there is to that.",
    "There's no more to say about that than I have.",
    "I've nothing to add to what I said about that.",
)
UNCLEAR = (
    "How do you mean?",
    "I don't follow, what is it that you want to know?",
    "That's too much at once for me, what exactly do you mean?",
    "You lost me there, could you ask one thing?",
    "Sorry, I don't understand the question.",
    "I can't follow that, which one do you mean?",
)
ECHOES = (
    "Yes, that's what I said.",
    "You are only repeating me.",
    "Those were my own words.",
    "I know, I've just told you so.",
)
CONTRARY = (
    "No, that would make it worse for me.",
    "That's just what I can't do.",
    "That goes against all I need.",
    "I'm afraid that won't do in my case.",
)
PROGRESS = (
    "Yes, that could work for somebody like me.",
    "Now that fits my situation.",
    "Good, I hadn't thought of it that way.",
    "That's the sort of thing I was hoping for.",
)
REPEATS = ("As I said, ", "Like I told you, ", "Again, ", "I mentioned it, ")
STUCK = (
    "We aren't getting to what really weighs on me.",
    "Something else keeps me awake.",
    "There's more to this than we've touched on.",
    "You haven't hit on what makes this tricky yet.",
)
_NO_MATTER = ("That isn't what weighs on me, but ", "I couldn't tell you much there, but ")
BEFORE_HINT: Mapping[WhWord | Literal["suggestion"], tuple[str, ...]] = {
    "how much": ("I couldn't put a figure on that, but ", "I've never worked that out, but "),
    "how many": ("I haven't counted, but ", "I couldn't tell you how many, but "),
    "how long": ("I couldn't say how long, but ", "I never measured it, but "),
    "when": ("I couldn't say when, but ", "There's no date for that, but "),
    "where": ("I couldn't say where, but ", "Nowhere special, but "),
    "who": ("I couldn't name anyone, but ", "Nobody in particular, but "),
    "which": ("I couldn't say which, but ", "No special one, but "),
    "why": ("I couldn't tell you why, but ", "I don't know why, but "),
    "how": ("I couldn't say how, but ", *_NO_MATTER),
    "whether": ("I couldn't say, but ", "Not that I know of, but ", "I don't think so, but "),
    "what": _NO_MATTER,
    "request": _NO_MATTER,
    "suggestion": ("That may be an idea, but ", "Perhaps, but ", "I'll think about it, but "),
}
"""In front of a hint, by what the message wanted."""
ADVICE_HEARD = (
    "That may be an idea, I'd have to think about it.",
    "Perhaps, though it isn't what weighs on me most.",
    "I'll keep it in mind, there is more to it.",
    "It could help a little, I suppose.",
)
GUARDED = (
    "There is something there, but I don't like to go on about it.",
    "Well, in a way, yes.",
    "It's a long story.",
    "There's a thing or two I could say to that.",
    "Hm, it depends on who's asking.",
    "You could say there's a point there.",
)
REMARKS = (
    "and my neighbour's radio is on again as I write this",
    "and now it has started to rain",
    "which reminds me that I forgot to buy stamps",
    "and my tea has gone cold in the meantime",
    "and the phone keeps ringing while I write",
    "but then Mondays are always like that with me",
)
LEAVING = (
    "I think I'll leave it here, this isn't helping.",
    "Never mind, I'll ask somebody else.",
    "I have to go, we aren't getting anywhere.",
)
NOTHING_TO_TELL: Mapping[WhWord, tuple[str, ...]] = {
    "how much": (
        "I couldn't put a figure on that.",
        "No amount that would matter here.",
        "I've never worked that out.",
    ),
    "how many": (
        "I haven't counted, and it hardly matters.",
        "No number comes to mind there.",
        "I couldn't tell you how many.",
    ),
    "how long": (
        "I couldn't say how long, it isn't the point.",
        "There's no fixed time for that.",
        "I never measured it.",
    ),
    "when": ("There's no particular time for that.", "No date that would matter here.", "I couldn't say when."),
    "where": ("No place in particular.", "The where doesn't play a part in this.", "Nowhere special."),
    "who": ("Nobody in particular.", "No one comes to mind there.", "There isn't anyone to name."),
    "which": ("None that I could name.", "No special one.", "It makes no difference which."),
    "why": (
        "There's no special reason for that.",
        "I couldn't tell you why, it just is so.",
        "No reason that would help you.",
    ),
    "how": (
        "In no special way.",
        "I couldn't describe that, it isn't where the trouble lies.",
        "The usual way, nothing to tell.",
    ),
    "whether": (
        "No, nothing like that.",
        "Not that I know of.",
        "No, that doesn't play a part here.",
        "I don't think so, no.",
    ),
    "what": (
        "Nothing special to say there.",
        "Nothing comes to mind on that.",
        "There's nothing to tell about that.",
        "Nothing that matters here.",
    ),
    "request": (
        "There's not much to tell about that.",
        "Nothing worth telling on that.",
        "I've nothing to say about that.",
    ),
}
"""By what kind of answer the question wanted."""
