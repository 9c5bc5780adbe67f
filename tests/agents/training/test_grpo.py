"""GRPO in InfoQuest: tokens as sampled, the user's masked out, one return an episode, and it learns."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from elicit_gym.agents import load_policy
from elicit_gym.agents.local_policy import LocalPolicy
from elicit_gym.agents.policy_folder import save_policy
from elicit_gym.agents.training.conversation_tokens import ConversationTokens
from elicit_gym.agents.training.grpo import _Player, train_grpo
from elicit_gym.agents.training.settings import GRPOSettings
from elicit_gym.errors import SettingError
from elicit_gym.offline.model_input import encode_prompt, end_token_id
from elicit_gym.rollout.storage import load_run
from elicit_gym.types import Message
from tests.agents.tiny_model import TEMPLATES, tiny_model, tiny_tokenizer

THOUGHT = "<think>\n\n</think>\n\n"


@pytest.mark.parametrize("template", list(TEMPLATES))
def test_tokens_of_a_conversation_are_those_of_its_prompt(template: str) -> None:
    tokenizer = tiny_tokenizer(template)
    end = end_token_id(tokenizer)
    history = (Message(role="user", content="Help me."),)
    tokens = ConversationTokens(tokenizer, history)
    assert tokens.ids == encode_prompt(tokenizer, history)
    for said, reply in (("What is it?", "A lamp, What is it? I said."), ("Which one?", "The green one.")):
        sampled = [*tokenizer(said, add_special_tokens=False)["input_ids"], end]
        assert tokens.say(sampled) == said
        history = (*history, Message(role="assistant", content=said), Message(role="user", content=reply))
        tokens.hear(history)
        # What the policy would see in any other run; but for the deliberation that was closed before it spoke, and
        # that this family's template drops from turns that are over.
        seen, wanted = (tokenizer.decode(ids) for ids in (tokens.ids, encode_prompt(tokenizer, history)))
        if template == "deepseek":
            *closed, last = seen.split(THOUGHT)
            seen = "".join(closed) + THOUGHT + last
        assert seen == wanted
    assert len(tokens.mask) == len(tokens.completion_ids)
    own = [i for i, m in zip(tokens.completion_ids, tokens.mask, strict=True) if m]
    assert tokenizer.decode(own, skip_special_tokens=True) == "What is it?Which one?"
    assert own.count(end) == 2
    # An utterance that was cut off gets its end mark from the template, and not from the policy.
    cut = ConversationTokens(tokenizer, (Message(role="user", content="Help me."),))
    cut.say(tokenizer("What", add_special_tokens=False)["input_ids"])
    cut.hear((Message(role="user", content="Help me."), Message(role="assistant", content="What"), history[-1]))
    assert cut.mask[:5] == [1, 1, 1, 1, 0]
    assert cut.completion_ids[4] == end


class _State:
    global_step = 0


class _Trainer:
    """As much of a trainer as a player looks at."""

    def __init__(self, model: Any, num_processes: int = 1, process_index: int = 0) -> None:
        self.model, self.state, self.accelerator = model, _State(), self
        self.num_processes, self.process_index = num_processes, process_index

    def unwrap_model(self, model: Any) -> Any:
        return model


def test_a_rollout_is_on_policy_and_kept(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer).eval()
    settings = GRPOSettings(max_new_tokens=6, batch_size=4, num_generations=2, seed=3)
    player = _Player(tokenizer, "elicit_gym/InfoQuest-v0", {"max_turns": 3}, settings, tmp_path / "episodes")
    rolled = player(["00-a", "00-a", "07-b", "07-b"], _Trainer(model))
    player.close()
    records, _ = load_run(tmp_path / "episodes")
    assert [r.scenario_id for r in records] == ["00-a", "00-a", "07-b", "07-b"]
    assert rolled["episode_return"] == [r.episode.total_reward for r in records]
    assert records[0].episode.turns[0].action != records[1].episode.turns[0].action  # other seeds in a group
    for row, record in enumerate(records):
        completion, mask = rolled["completion_ids"][row], rolled["env_mask"][row]
        assert len(completion) == len(mask)
        spoken, current = [], []
        for token, own in zip(completion, mask, strict=True):
            if own:
                current.append(token)
            elif current:
                spoken.append(current)
                current = []
        spoken.append(current)
        assert len(spoken) == 3  # three turns, with the user's masked out between them
        policy = LocalPolicy(model, tokenizer=tokenizer)
        for ids, turn in zip(spoken, record.episode.turns, strict=True):
            text = tokenizer.decode(ids, skip_special_tokens=True).strip()
            assert (text or "...") == turn.action
        assert policy.log_prob(record.episode.history[:1], record.episode.turns[0].action) < 0
    again = _Player(tokenizer, "elicit_gym/InfoQuest-v0", {"max_turns": 3}, settings, tmp_path / "again")
    assert again(["00-a", "00-a", "07-b", "07-b"], _Trainer(model)) == rolled  # seeds derive from the unit
    again.close()


def test_a_failing_judge_costs_its_own_conversation_only(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    settings = GRPOSettings(max_new_tokens=4, batch_size=4, num_generations=2)
    kwargs = {"max_turns": 2, "judge": "tests.rollout.players:Picky"}
    player = _Player(tokenizer, "elicit_gym/InfoQuest-v0", kwargs, settings, tmp_path / "episodes")
    rolled = player(["00-a", "00-a", "07-a", "07-a"], _Trainer(tiny_model(tokenizer).eval()))
    player.close()
    assert [value is None for value in rolled["episode_return"]] == [False, False, True, True]
    records, _ = load_run(tmp_path / "episodes")
    assert [r.failure and r.failure.source for r in records] == [None, None, "judge", "judge"]
    assert [len(r.episode.turns) for r in records] == [2, 2, 0, 0]


def test_processes_play_conversations_of_their_own(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer).eval()
    settings = GRPOSettings(max_new_tokens=4, batch_size=2, num_generations=2)
    seen = []
    for index in range(2):
        player = _Player(tokenizer, "elicit_gym/InfoQuest-v0", {"max_turns": 1}, settings, tmp_path / "episodes")
        for _ in range(2):
            player(["00-a", "00-a"], _Trainer(model, 2, index))
        player.close()
        records, _ = load_run(tmp_path / "episodes" / f"process-{index}")
        seen += [(record.repeat, record.seed) for record in records]
    assert len(set(seen)) == len(seen) == 8
    assert sorted(repeat for repeat, _ in seen) == list(range(8))


def test_it_trains_and_the_policy_loads_like_any_other(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    base = tmp_path / "base"
    save_policy(base, tiny_model(tokenizer), tokenizer, {"base_model": ""})
    from elicit_gym.agents.local_model import load_model

    model, tokenizer = load_model(str(base), dtype="float32")
    settings = GRPOSettings(
        max_steps=3, batch_size=4, num_generations=2, max_new_tokens=5, policy_lr=1e-2, lora_dropout=0.0
    )
    env_kwargs = {"max_turns": 2, "reward": "checklist_gain_per_turn_cost"}
    log = train_grpo(model.train(), tokenizer, tmp_path / "out", env_kwargs=env_kwargs, settings=settings)
    rows = [row for row in log["steps"] if "reward" in row]
    assert len(rows) == 3
    assert all(torch.isfinite(torch.tensor(row["loss"])) for row in rows)
    records, manifest = load_run(tmp_path / "out" / "episodes")
    assert len(records) == 12
    assert {r.policy for r in records} == {"step-0", "step-1", "step-2"}
    assert len({r.unit for r in records}) == 12
    assert rows[0]["reward"] == pytest.approx(
        sum(r.episode.total_reward for r in records if r.policy == "step-0") / 4, abs=1e-5
    )
    assert manifest.env_kwargs == env_kwargs
    assert (manifest.environment.max_turns, manifest.environment.reward.name) == tuple(env_kwargs.values())
    saved = json.loads((tmp_path / "out" / "best" / "elicit_gym.json").read_text())
    assert saved["method"] == "grpo"
    policy = load_policy(str(tmp_path / "out" / "best"))
    assert policy.name == "out"
    assert policy.act((Message(role="user", content="Help me."),))


def test_what_cannot_be_trained(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    with pytest.raises(SettingError, match="multiple of num_generations"):
        train_grpo(tiny_model(tokenizer), tokenizer, tmp_path, settings=GRPOSettings(batch_size=3, num_generations=2))
    settings = GRPOSettings(batch_size=2, num_generations=2, max_new_tokens=2040)
    player = _Player(tokenizer, "elicit_gym/InfoQuest-v0", {}, settings, tmp_path / "episodes")
    with pytest.raises(SettingError, match="fit into the model's 2048 tokens"):
        player(["00-a", "00-a"], _Trainer(tiny_model(tokenizer)))
