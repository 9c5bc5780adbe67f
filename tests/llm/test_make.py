"""The default models are offered and priced; the paper's own are one word away."""

import datetime

import pytest

from elicit_gym.judges.llm import LLMJudge
from elicit_gym.llm.litellm_transport import price_usd
from elicit_gym.llm.make import DEFAULT_MODEL, PAPER_JUDGE, PAPER_USER
from elicit_gym.user_simulators.llm import LLMUserSimulator


@pytest.mark.parametrize("part", [LLMUserSimulator, LLMJudge])
def test_the_default_model_has_a_price_and_is_offered(part: type[LLMUserSimulator] | type[LLMJudge]) -> None:
    name = part().model.name
    assert name == DEFAULT_MODEL
    assert (price_usd(name, 1_000_000, 1_000_000) or 0) > 0
    import litellm

    ends = litellm.model_cost[name].get("deprecation_date")
    assert ends is None or datetime.date.fromisoformat(ends) > datetime.date.today()


def test_the_papers_models_are_one_word_away() -> None:
    assert LLMUserSimulator("paper").model.name == PAPER_USER == "gemini/gemini-2.0-flash"
    assert LLMJudge("paper").model.name == PAPER_JUDGE == "hosted_vllm/AtlaAI/Selene-1-Mini-Llama-3.1-8B"
