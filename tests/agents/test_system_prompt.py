"""One way to put a prompt before a history, for every kind of policy."""

from pathlib import Path

import pytest

from elicit_gym.agents import load_policy
from elicit_gym.agents.local_policy import LocalPolicy
from elicit_gym.agents.policy_folder import save_policy
from elicit_gym.agents.system_prompt import load_system_prompt, split_prompt, with_system_prompt
from elicit_gym.errors import SettingError
from elicit_gym.offline.model_input import encode_prompt
from elicit_gym.offline.windows import system_line
from elicit_gym.types import Message
from tests.agents.tiny_model import tiny_model, tiny_tokenizer

LINE = Message(role="system", content=system_line("oral_history"))
USER = Message(role="user", content="I mend nets.")


def test_the_prompt_follows_the_line_of_the_domain() -> None:
    assert with_system_prompt((USER,), "") == (USER,)
    assert with_system_prompt((USER,), "Ask.") == (Message(role="system", content="Ask."), USER)
    merged = with_system_prompt((LINE, USER), "Ask.")
    assert [m.role for m in merged] == ["system", "user"]
    assert merged[0].content == "Act as an information elicitation agent for oral history.\n\nAsk."


def test_specs_name_their_prompt(tmp_path: Path) -> None:
    own = tmp_path / "mine.txt"
    own.write_text("Ask about bees.", encoding="utf-8")
    assert split_prompt("hf:a/b+elicitor") == ("hf:a/b", "elicitor")
    assert split_prompt(f"hf:a/b+{own}") == ("hf:a/b", str(own))
    assert split_prompt("hf:a/b+c") == ("hf:a/b+c", None)
    assert split_prompt("naive") == ("naive", None)
    with pytest.raises(SettingError, match="expected one of clarify, elicitor, plain"):
        load_system_prompt("shout")


def test_a_prompted_model_reads_both_and_a_trained_one_acts_as_it_was_trained(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    save_policy(tmp_path / "mine" / "best", tiny_model(tokenizer), tokenizer, {"base_model": ""})
    folder = str(tmp_path / "mine" / "best")
    prompted, trained = load_policy(f"hf:{folder}+elicitor"), load_policy(folder, system_prompt="elicitor")
    assert isinstance(prompted, LocalPolicy)
    assert isinstance(trained, LocalPolicy)
    assert (prompted.name, trained.name) == ("hf:best (elicitor)", "mine")
    plain = len(encode_prompt(tokenizer, (LINE, USER)))
    elicitor = load_system_prompt("elicitor").text.strip()
    assert trained.count_prompt_tokens([(LINE, USER)]) == [plain]
    assert prompted.count_prompt_tokens([(LINE, USER)]) == [plain + len(tokenizer(f"\n\n{elicitor}")["input_ids"])]
    assert [prompt.text for prompt in prompted.prompts] == [elicitor]
