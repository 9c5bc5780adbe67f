"""Scripted baselines, from the paper's main failure to a privileged upper bound.

The expected order of their returns, naive < ask-many < ask-one < adaptive < oracle, is itself a test of the
environment: it holds only if asking pays, one question at a time pays more, and listening pays most.
"""

from elicit_gym.agents.baselines.adaptive import Adaptive
from elicit_gym.agents.baselines.oracle import Oracle
from elicit_gym.agents.baselines.simple import QUESTION_BANK, AskMany, AskOne, Naive, RandomQuestions
from elicit_gym.agents.baselines.stochastic import SoftmaxQuestions

__all__ = ["QUESTION_BANK", "Adaptive", "AskMany", "AskOne", "Naive", "Oracle", "RandomQuestions", "SoftmaxQuestions"]
