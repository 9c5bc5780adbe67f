"""Test doubles of language models, made by name so that they survive JSON and other processes."""

from elicit_gym.llm.scripted import ScriptedChatModel
from elicit_gym.llm.types import ChatRequest


def _user(request: ChatRequest) -> str:
    return f"Well, it is message {len(request.messages)} of mine, seed {request.seed}."


def _judge(request: ChatRequest) -> str:
    question = request.messages[-1].content.split(" CRITERION\n")[-1].splitlines()[0]
    answer = "Yes" if "budget" in question.lower() or "money" in question.lower() else "No"
    return f"Reasoning: by the words of the question.\nResult: {answer}"


def _policy(request: ChatRequest) -> str:
    return f"What about number {len(request.messages)}, in seed {request.seed}?"


def user() -> ScriptedChatModel:
    return ScriptedChatModel(_user, name="double-user")


def judge() -> ScriptedChatModel:
    return ScriptedChatModel(_judge, name="double-judge")


def policy() -> ScriptedChatModel:
    return ScriptedChatModel(_policy, name="double-policy", cost_usd=0.001)


def unpriced_policy() -> ScriptedChatModel:
    return ScriptedChatModel(_policy, name="double-unpriced", cost_usd=None)
