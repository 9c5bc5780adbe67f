"""Load a policy from what a user types."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elicit_gym.agents.policy_folder import base_model_of, is_policy_folder, policy_name
from elicit_gym.agents.system_prompt import load_system_prompt, split_prompt
from elicit_gym.errors import SettingError
from elicit_gym.policy import Policy
from elicit_gym.registry import POLICIES, unknown_name

__all__ = ["load_policy"]

_SERVED = ("litellm", "http")


def load_policy(spec: str, **llm_kwargs: Any) -> Policy:
    """Make the policy that `spec` names.

    Args:
        spec: a name from `elicit_gym.registry.POLICIES` (``naive``, ``ask-many``, ``ask-one``, ``adaptive``,
            ``random``, ``oracle``, and those that you registered); ``litellm:MODEL`` for any model that litellm knows,
            or ``http:MODEL`` for one on an OpenAI-compatible server without litellm in between; ``hf:ID_OR_DIR`` for a
            local Hugging Face model; the folder of a trained policy (adapter or model, with its config); or
            ``module:attribute`` for a class, or a function without arguments, in an importable module or in the
            current folder. A model's name may end in ``+PROMPT`` (``hf:MODEL+elicitor``): a system prompt of its own,
            so that prompts can be compared in one run.
        llm_kwargs: for `elicit_gym.agents.llm_policy.LLMPolicy`, where `spec` names a model. Its ``system_prompt`` is
            for prompted models: a trained policy acts as it was trained, unless its own spec names a prompt.

    Raises:
        UnknownNameError: no such name.
        SettingError: the module or class cannot be loaded, or what it makes is not a policy.
    """
    if spec in POLICIES.names():
        return _checked(spec)
    whole, (spec, own_prompt) = spec, split_prompt(spec)
    if own_prompt is not None:
        llm_kwargs["system_prompt"] = own_prompt
    kind, _, model = spec.partition(":")
    if (kind == "hf" and model) or is_policy_folder(spec):
        if kind != "hf" and own_prompt is None:
            llm_kwargs.pop("system_prompt", None)
        return _load_local(spec, model if kind == "hf" else "", llm_kwargs)
    if kind in _SERVED and model:
        from elicit_gym.agents.llm_policy import LLMPolicy

        return LLMPolicy(model, transport=kind, **llm_kwargs)
    if ":" in whole:
        return _checked(whole)
    more = "; litellm:MODEL; http:MODEL; hf:MODEL; the folder of a trained policy; or module:attribute for your own"
    raise unknown_name("policy", whole, POLICIES.names(), more)


def _checked(name: str) -> Policy:
    policy = POLICIES.make(name)
    if not isinstance(policy, Policy):
        raise SettingError(
            f"Loading the policy {name!r}: expected an object with name, reset(seed) and act(history), "
            f"got {type(policy).__name__}. Add what is missing."
        )
    return policy


def _load_local(spec: str, model: str, llm_kwargs: Mapping[str, Any]) -> Policy:
    """Load a local model, with those options for models that apply to it."""
    from elicit_gym.agents.local_policy import LocalPolicy

    kwargs: dict[str, Any] = {
        "temperature": llm_kwargs.get("temperature") or 0.0,
        "max_new_tokens": llm_kwargs.get("max_tokens") or 128,
    }
    prompt = llm_kwargs.get("system_prompt") or "plain"
    suffix = ""
    if prompt != "plain":
        loaded = load_system_prompt(prompt, llm_kwargs.get("prompts"))
        kwargs["system"], suffix = loaded.text.strip(), f" ({loaded.name})"
    if model:
        shown = f"hf:{Path(model).resolve().name}" if Path(model).is_dir() else spec
        return LocalPolicy(model, name=shown + suffix, **kwargs)
    folder = Path(spec)
    name = policy_name(folder) + suffix
    if (folder / "adapter_config.json").is_file():
        return LocalPolicy(base_model_of(folder), adapter=folder, name=name, **kwargs)
    return LocalPolicy(str(folder), name=name, **kwargs)
