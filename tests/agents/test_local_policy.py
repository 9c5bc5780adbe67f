"""Local models: one way to build their input, batched acting and scoring."""

import copy
import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from elicit_gym import collect_episodes
from elicit_gym.agents import load_policy
from elicit_gym.agents.local_policy import LocalPolicy
from elicit_gym.agents.policy_folder import save_policy
from elicit_gym.agents.sampling import RowNoise
from elicit_gym.agents.training.data import encode_windows
from elicit_gym.errors import ManifestMismatchError, SettingError
from elicit_gym.offline import load_dataset
from elicit_gym.offline.model_input import encode_example, encode_prompt, end_token_id
from elicit_gym.offline.tokenizing import tokenize_windows
from elicit_gym.testing import check_policy
from elicit_gym.types import Message
from tests.agents.tiny_model import TEMPLATES, tiny_model, tiny_tokenizer

WINDOW = next(iter(load_dataset("sample/all-v1", reward="reply_length").windows()))
USER = Message(role="user", content="I keep bees. Zürich 😀")
LONGER = (
    Message(role="system", content="Act as an elicitor."), USER, Message(role="assistant", content="Since when?"),
    Message(role="user", content="Since the war, or a little before."),
)  # fmt: skip


@pytest.mark.parametrize("family", sorted(TEMPLATES))
@pytest.mark.parametrize("history", [(USER,), LONGER])
def test_acting_training_and_scoring_see_the_same_tokens(family: str, history: tuple[Message, ...]) -> None:
    tokenizer = tiny_tokenizer(family)
    prompt = encode_prompt(tokenizer, history)
    example = encode_example(tokenizer, history, "Why bees?")
    assert example.input_ids[: example.action_start] == prompt
    assert example.input_ids[example.end] == end_token_id(tokenizer) == tokenizer.eos_token_id
    said = tokenizer.decode(example.input_ids[example.action_start : example.end])
    assert said == "Why bees?"
    seen: list[list[int]] = []
    policy = LocalPolicy(tiny_model(tokenizer).eval(), tokenizer=tokenizer, max_new_tokens=2)
    original = policy.model.generate

    def spy(**kwargs: Any) -> Any:
        seen.append(kwargs["input_ids"][0].tolist())
        return original(**kwargs)

    policy.model.generate = spy
    policy.act(history)
    assert seen == [prompt]
    if family == "deepseek":
        assert tokenizer.decode(prompt).endswith("<think>\n\n</think>\n\n")
        assert tokenizer.decode(encode_prompt(tokenizer, history, thinking=True)).endswith("<think>\n")


@pytest.mark.parametrize("family", sorted(TEMPLATES))
def test_log_probs_by_hand_and_in_any_batch(family: str) -> None:
    tokenizer = tiny_tokenizer(family)
    model = tiny_model(tokenizer).eval()
    policy = LocalPolicy(model, tokenizer=tokenizer, batch_size=2)
    histories = [(USER,), LONGER, (USER,)]
    actions = ["Why?", "And how many hives did you have at the time?", "Is it so?"]
    together = policy.log_prob_batch(histories, actions)
    for history, action, found in zip(histories, actions, together, strict=True):
        example = encode_example(tokenizer, history, action)
        with torch.no_grad():
            logits = model(torch.tensor([example.input_ids])).logits[0].log_softmax(-1)
        by_hand = sum(float(logits[t - 1, example.input_ids[t]]) for t in range(example.action_start, example.end))
        assert found.total == pytest.approx(by_hand, abs=1e-3)
        assert found.num_tokens == example.end - example.action_start
        assert policy.log_prob(history, action) == pytest.approx(by_hand, abs=1e-3)
    with_end = policy.log_prob_batch(histories, actions, with_end=True)
    assert [w.num_tokens - t.num_tokens for w, t in zip(with_end, together, strict=True)] == [1, 1, 1]


def test_batched_acting_is_what_single_acting_is() -> None:
    tokenizer = tiny_tokenizer()
    policy = LocalPolicy(tiny_model(tokenizer).eval(), tokenizer=tokenizer, max_new_tokens=6)
    histories = [(USER,), LONGER, (*LONGER[:3], Message(role="user", content="x"))]
    assert policy.act_batch(histories) == [policy.act(history) for history in histories]
    check_policy(policy)


def test_it_plays_infoquest_and_long_histories_lose_their_oldest_messages() -> None:
    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer).eval()
    model.config.max_position_embeddings = 400
    policy = LocalPolicy(model, tokenizer=tokenizer, max_new_tokens=40)
    records = collect_episodes(policy, scenario_ids=["00-a"])
    assert records[0].failure is None
    assert len(records[0].episode.turns) == 10


def test_what_does_not_fit_is_one_clear_error(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer).eval()
    model.config.max_position_embeddings = 50
    with pytest.raises(SettingError, match="expected at most 50 tokens"):
        LocalPolicy(model, tokenizer=tokenizer).log_prob((USER,), "x" * 60)
    bare = tiny_tokenizer()
    bare.chat_template = None
    with pytest.raises(SettingError, match="expected a tokenizer with a chat template"):
        LocalPolicy(model, tokenizer=bare)
    bare.pad_token = None
    save_policy(tmp_path / "bare", model, bare, {"base_model": ""})
    for build in (
        lambda: load_policy(f"hf:{tmp_path / 'bare'}"),
        lambda: end_token_id(bare),
        lambda: encode_windows([WINDOW], bare, max_length=None),
        lambda: tokenize_windows([WINDOW], bare, 500),
    ):
        with pytest.raises(SettingError, match="expected a tokenizer with a chat template"):
            build()
    endless = tiny_tokenizer()
    endless.chat_template = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
    endless.eos_token = None
    with pytest.raises(SettingError, match="expected an end token"):
        LocalPolicy(model, tokenizer=endless)
    with pytest.raises(SettingError, match="expected a hub id or a folder"):
        load_policy(f"hf:{tmp_path / 'nowhere'}")


def test_saved_policies_load_by_folder(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer).eval()
    save_policy(tmp_path / "mine" / "best", model, tokenizer, {"base_model": ""})
    policy = load_policy(str(tmp_path / "mine" / "best"))
    assert isinstance(policy, LocalPolicy)
    assert policy.name == "mine"
    assert policy.log_prob((USER,), "Why?") == pytest.approx(
        LocalPolicy(model, tokenizer=tokenizer).log_prob((USER,), "Why?"), abs=1e-3
    )
    assert load_policy(f"hf:{tmp_path / 'mine' / 'best'}", system_prompt="elicitor").name.endswith("(elicitor)")


def test_what_is_sampled_depends_on_history_and_seed_and_not_on_the_batch() -> None:
    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer).eval()
    policy = LocalPolicy(model, tokenizer=tokenizer, temperature=1.0, max_new_tokens=12, batch_size=3)
    histories = [(Message(role="user", content="x" * n),) for n in (5, 40, 9, 5, 23)]
    seeds = [1, 2, 3, 4, 5]
    together = policy.act_seeded(histories, seeds)
    assert together == [policy.act_seeded([h], [s])[0] for h, s in zip(histories, seeds, strict=True)]
    policy.reset(4)
    assert policy.act(histories[3]) == together[3]
    assert together[0] != together[3]  # the same history, another seed
    # The frequencies are those of the softmax.
    logits = torch.tensor([[0.0, 1.0, 2.0]])
    drawn = [int(RowNoise([seed], 0.5)(None, logits).argmax()) for seed in range(4000)]
    expected = (logits / 0.5).softmax(-1)[0]
    for token in range(3):
        assert drawn.count(token) / 4000 == pytest.approx(float(expected[token]), abs=0.03)


def test_a_retrained_policy_of_the_same_name_is_another_one_and_a_moved_one_is_not(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    folder, moved = tmp_path / "mine" / "best", tmp_path / "elsewhere" / "mine" / "best"
    model = tiny_model(tokenizer).eval()
    save_policy(folder, model, tokenizer, {"base_model": ""})
    made: dict[str, Any] = {"scenario_ids": ["00-a"], "env_kwargs": {"max_turns": 1}, "out": tmp_path / "run"}
    collect_episodes(load_policy(str(folder), max_tokens=4), **made)
    shutil.copytree(folder, moved)
    assert len(collect_episodes(load_policy(str(moved), max_tokens=4), **made, resume=True)) == 1
    for change, difference in (
        ({"max_tokens": 5}, "policies.mine.sampling.max_new_tokens: 4 there, 5 here"),
        ({"max_tokens": 4, "temperature": 1.0}, "policies.mine.sampling.temperature"),
    ):
        with pytest.raises(ManifestMismatchError, match=difference):
            collect_episodes(load_policy(str(folder), **change), **made, resume=True)
    prompted = LocalPolicy(str(folder), name="mine", max_new_tokens=4, system="Ask.")
    with pytest.raises(ManifestMismatchError, match="policies.mine.prompts.system"):
        collect_episodes(prompted, **made, resume=True)
    with torch.no_grad():
        next(model.parameters()).add_(0.1)
    save_policy(folder, model, tokenizer, {"base_model": ""})
    with pytest.raises(ManifestMismatchError, match="policies.mine.weights_sha256"):
        collect_episodes(load_policy(str(folder), max_tokens=4), **made, resume=True)
    retold = tiny_tokenizer("llama")
    save_policy(moved, tiny_model(tokenizer), retold, {"base_model": ""})
    with pytest.raises(ManifestMismatchError, match="policies.mine.settings.chat_template_sha256"):
        collect_episodes(load_policy(str(moved), max_tokens=4), **made, resume=True)


def test_a_model_in_memory_is_known_by_its_weights() -> None:
    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer).eval()
    before = LocalPolicy(model, tokenizer=tokenizer).describe()
    assert before.weights_sha256 is not None
    assert LocalPolicy(copy.deepcopy(model), tokenizer=tokenizer).describe() == before
    with torch.no_grad():
        next(model.parameters()).add_(0.1)
    after = LocalPolicy(model, tokenizer=tokenizer).describe()
    assert after.weights_sha256 != before.weights_sha256
    half = LocalPolicy(model.to(torch.bfloat16), tokenizer=tokenizer).describe()
    assert half.settings["dtype"] == "torch.bfloat16"
    assert half.weights_sha256 is not None


def test_what_a_policys_folder_says_is_checked(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    folder = tmp_path / "mine" / "best"
    for config in ("[1]", '{"base_model": 3}', "{}", "nonsense", "[" * 100_000):
        save_policy(folder, tiny_model(tokenizer), tokenizer, {"base_model": ""})
        (folder / "adapter_config.json").write_text("{}")
        (folder / "elicit_gym.json").write_text(config)
        with pytest.raises(SettingError, match="expected a"):
            load_policy(str(folder))
    for base in ("", "/etc/hostname", "mymod:make", "../nowhere/at/all"):
        (folder / "elicit_gym.json").write_text(json.dumps({"base_model": base}))
        with pytest.raises(SettingError, match="expected a base model on the hub or in a folder"):
            load_policy(str(folder))


def test_it_travels_to_the_best_device_of_the_other_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = tiny_tokenizer()
    policy = LocalPolicy(tiny_model(tokenizer), tokenizer=tokenizer)
    packed = pickle.dumps(policy)
    there = pickle.loads(packed)
    history = (Message(role="user", content="Hello."),)
    assert there.act(history) == policy.act(history)
    monkeypatch.setattr("elicit_gym.agents.local_policy.best_device", lambda: "meta")
    assert pickle.loads(packed).model.device.type == "meta"
    own = LocalPolicy(tiny_model(tokenizer), tokenizer=tokenizer, device="cpu")
    assert pickle.loads(pickle.dumps(own)).model.device.type == "cpu"


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_how_probable_its_actions_are_at_its_temperature(temperature: float) -> None:
    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer)
    policy = LocalPolicy(model, tokenizer=tokenizer, temperature=temperature, batch_size=2)
    history = (Message(role="user", content="Hello there."),)
    said = ["Who are you?", "Why?", "Tell me more about it, please."]
    found = policy.action_log_probs([history] * 3, said)
    for action, log_prob in zip(said, found, strict=True):
        example = encode_example(tokenizer, history, action)
        ids = torch.tensor([example.input_ids])
        with torch.no_grad():
            steps = (model(input_ids=ids).logits[0].float() / temperature).log_softmax(dim=-1)
        start = example.action_start
        expected = steps[start - 1 : -1].gather(1, ids[0, start:, None]).sum()  # the end token counts
        assert log_prob == pytest.approx(float(expected), abs=1e-3)


def test_a_greedy_policy_has_no_probabilities_to_weigh_with() -> None:
    tokenizer = tiny_tokenizer()
    policy = LocalPolicy(tiny_model(tokenizer), tokenizer=tokenizer)
    with pytest.raises(SettingError, match="a sampling temperature above 0"):
        policy.action_log_probs([], [])
