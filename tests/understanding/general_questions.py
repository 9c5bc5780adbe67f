"""General questions that fit any user, written before their first measurement; nobody looked at which of them fail.

Plain, terse, non-native and indirect ones: what it is about, what is wanted, what is in the way, what was tried, and how
things stand, for which the user says what it is about. Those that the understanding was mended with are its examples,
`elicit_gym.understanding.general.EXAMPLES`.
"""

from collections.abc import Mapping

from elicit_gym.understanding.general import GeneralMatter

__all__ = ["HELD_OUT"]

HELD_OUT: Mapping[GeneralMatter, tuple[str, ...]] = {
    "request": (
        "What exactly are we talking about?", "Could you explain what this is about?",
        "What sort of situation are you referring to?", "What is it that you need?",
        "Can you clarify what you're asking for?", "Okay, so what's it about?", "What are you dealing with right now?",
        "Mind telling me what this is about?", "Which topic?", "This is about what?",
        "You are speaking about what exactly?", "Explain to me what it is about, please.",
        "I need to understand what it is you're facing.", "I was wondering what you meant.",
    ),
    "goal": (
        "What do you hope will come out of this?", "What result would make you happy?", "What's your ideal scenario?",
        "What would you ultimately like to accomplish?", "What does success look like for you?",
        "What are your goals?", "How would you like this to end?", "Is there a specific outcome you're hoping for?",
        "Wanted result?", "What's the aim of it?", "What would you want to have reached at the end?",
        "To what end you do this?", "Tell me what you're hoping to achieve.",
        "I'm trying to understand what your goal is.",
    ),
    "obstacle": (
        "What's the main challenge you're facing?", "What is proving difficult?",
        "What do you see as the main obstacle?", "What's the part that worries you most?", "What's making it so hard?",
        "What has been the hardest thing so far?", "Are there any obstacles in your way?",
        "What seems to be the problem?", "Sticking point?", "What's hard?", "What problem makes it to you?",
        "What is the obstacle that you have?", "I'd like to understand what's holding you back.",
        "So tell me, what's the trouble?",
    ),
    "tried": (
        "What have you already tried?", "What have you tried to do about it?", "Have you taken any steps yet?",
        "What approaches have you tried up to now?", "Did you make any attempts before?",
        "Has anything been tried before?", "What have you done to address it so far?",
        "How have you tried to handle it so far?", "What was tried so far?", "Anything attempted?",
        "What did you until now?", "You have tried which things?",
        "It would help to hear what you have tried already.", "I'm curious whether you've already tried something.",
    ),
    "situation": (
        "Could you tell me a little more about your situation?", "Can you give me more information?",
        "Can you provide some context?", "What's the background here?", "How would you describe your situation?",
        "Can you share a few more details?", "What is your current situation like?",
        "Would you tell me what's going on?", "Info?", "More info, please.", "What is the situation of you?",
        "Can you tell more of the background?", "It would be helpful to know more about your circumstances.",
        "I'm missing some context.",
    ),
}  # fmt: skip
