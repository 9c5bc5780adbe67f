"""Load a policy from what a user types."""

import importlib
import sys
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from elicit_gym.agents.baselines import BASELINES
from elicit_gym.agents.policy_folder import CONFIG, read_config
from elicit_gym.agents.system_prompt import load_system_prompt, split_prompt
from elicit_gym.errors import SettingError, UnknownNameError
from elicit_gym.policy import Policy

__all__ = ["load_policy"]


def load_policy(spec: str, **llm_kwargs: Any) -> Policy:
    """Make the policy that `spec` names.

    Args:
        spec: the name of a baseline (``naive``, ``ask-many``, ``ask-one``, ``adaptive``, ``random``, ``oracle``);
            ``litellm:MODEL`` for any model that litellm knows, or ``http:MODEL`` for one on an OpenAI-compatible server
            without litellm in between; ``hf:ID_OR_DIR`` for a local Hugging Face model; the folder of a trained policy
            (adapter or model, with its config); or ``module:Class`` for a class, or a function without arguments, in an
            importable module or in the current folder. A model's name may end in ``+PROMPT``
            (``hf:MODEL+elicitor``): its own system prompt, so that prompts can be compared in one run.
        llm_kwargs: arguments of `elicit_gym.agents.llm_policy.LLMPolicy`, if `spec` names a model. Its
            ``system_prompt`` is for prompted models: a trained policy acts as it was trained, unless its own spec
            names a prompt.

    Raises:
        UnknownNameError: there is no such baseline.
        SettingError: the module or class cannot be loaded, or what it makes is not a policy.
    """
    if spec in BASELINES:
        return BASELINES[spec]()
    whole, (spec, own_prompt) = spec, split_prompt(spec)
    if own_prompt is not None:
        llm_kwargs["system_prompt"] = own_prompt
    kind, _, model = spec.partition(":")
    if (kind == "hf" and model) or (Path(spec) / CONFIG).is_file():
        if kind != "hf" and own_prompt is None:
            llm_kwargs.pop("system_prompt", None)
        return _load_local(spec, model if kind == "hf" else "", llm_kwargs)
    if kind in ("litellm", "http") and model:
        from elicit_gym.agents.llm_policy import LLMPolicy

        return LLMPolicy(model, transport=kind, **llm_kwargs)
    if ":" in whole:
        return _load_custom(whole)
    near = get_close_matches(whole, BASELINES, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise UnknownNameError(
        f"Unknown policy {whole!r}.{hint} Available: {', '.join(sorted(BASELINES))}; litellm:MODEL; "
        "http:MODEL; hf:MODEL; the folder of a trained policy; or module:Class for your own."
    )


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
    name = (folder.resolve().parent.name or spec) + suffix
    if (folder / "adapter_config.json").is_file():
        return LocalPolicy(read_config(folder)["base_model"], adapter=folder, name=name, **kwargs)
    return LocalPolicy(str(folder), name=name, **kwargs)


def _load_custom(spec: str) -> Policy:
    module_name, _, attribute = spec.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        factory = getattr(importlib.import_module(module_name), attribute)
        policy = factory()
    except Exception as error:
        raise SettingError(
            f"Loading the policy {spec!r}: expected a module and a class in it that takes no arguments, "
            f"got {type(error).__name__}: {error}. Check the names; the current folder is searched too."
        ) from error
    if not isinstance(policy, Policy):
        raise SettingError(
            f"Loading the policy {spec!r}: expected an object with name, reset(seed) and act(history), "
            f"got {type(policy).__name__}. Add what is missing."
        )
    return policy
