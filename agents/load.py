"""Load a policy from what a user types."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elicit_gym.agents.policy_folder import base_model_of, is_policy_folder, policy_name
from elicit_gym.agents.policy_spec import parse_policy_spec
from elicit_gym.agents.system_prompt import load_system_prompt, split_prompt
from elicit_gym.errors import SettingError
from elicit_gym.policy import Policy, ScenarioPolicy
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
            so that prompts can be compared in one run; and after that in options of its own
            (``litellm:MODEL,temperature=0,max-tokens=64``), so that settings can. ``LABEL=`` before all of it is the
            policy's name in reports.
        llm_kwargs: for `elicit_gym.agents.llm_policy.LLMPolicy`, where `spec` names a model. Its ``system_prompt`` is
            for prompted models: a trained policy acts as it was trained, unless its own spec names a prompt.

    Raises:
        UnknownNameError: no such name.
        SettingError: the module or class cannot be loaded, or what it makes is not a policy.
    """
    written = parse_policy_spec(spec)
    policy = _load(written.spec, {**llm_kwargs, **written.options}, own=bool(written.options))
    if written.label is None and not written.suffix:
        return policy
    name = written.label or f"{policy.name}{written.suffix}"
    if isinstance(policy, ScenarioPolicy):
        raise SettingError(
            f"Loading the policy {spec!r}: expected one that can be renamed, got {policy.name!r}, which is made "
            "anew for each scenario. Leave the label out."
        )
    policy.name = name
    return policy


def _load(spec: str, llm_kwargs: dict[str, Any], *, own: bool) -> Policy:
    """Make a policy.

    Args:
        spec: without a label and options of its own.
        llm_kwargs: for models.
        own: whether some of them are for this policy alone, so that it has to take them.
    """
    whole, (spec, own_prompt) = spec, split_prompt(spec) if spec not in POLICIES.names() else (spec, None)
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
    if own:
        raise SettingError(
            f"Loading the policy {whole!r}: expected a model where options are given, got something else. Leave them "
            "out."
        )
    if whole in POLICIES.names() or ":" in whole:
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
