"""Make a chat model from plain, JSON-able settings."""

import os
from typing import Any

from elicit_gym.errors import SettingError
from elicit_gym.llm.client import ServiceChatModel
from elicit_gym.llm.transport import split_user
from elicit_gym.llm.types import ChatModel
from elicit_gym.redaction import remember_address, remember_headers, remember_secret
from elicit_gym.registry import MODELS, is_target

__all__ = ["DEFAULT_MODEL", "PAPER_JUDGE", "PAPER_USER", "make_chat_model"]

DEFAULT_MODEL = "gemini/gemini-3.5-flash-lite"
"""Who plays the user and judges where nobody else is named: offered, priced, and of the family of the paper's user."""
PAPER_USER = "gemini/gemini-2.0-flash"
PAPER_JUDGE = "hosted_vllm/AtlaAI/Selene-1-Mini-Llama-3.1-8B"
"""Who did so in the paper (Section 3.3); the first is no longer offered, the second runs on a server of one's own."""


def make_chat_model(
    model: str,
    *,
    api_base: str | None = None,
    api_key_env: str | None = None,
    temperature: float | None = None,
    top_p: float | None = None,
    max_tokens: int | None = None,
    timeout: float = 120.0,
    transport: str = "litellm",
    structured_output: bool | None = None,
    extra: dict[str, Any] | None = None,
) -> ChatModel:
    """Make a chat model.

    Args:
        model: litellm's name for it (``openai/gpt-4o-mini``), a name from `elicit_gym.registry.MODELS`, or
            ``module:attribute`` for a function without arguments that makes a `ChatModel`; with ``transport="http"``
            the name that the server knows, sent as it is.
        api_base: of an OpenAI-compatible server.
        api_key_env: name of the environment variable with the key, where litellm's own is not used.
        temperature: the sampling temperature; None for the service's default.
        top_p: the nucleus' probability; None for the service's default.
        max_tokens: the largest number of tokens per answer.
        timeout: the time limit of a call, in seconds.
        transport: ``litellm``, or ``http`` for an OpenAI-compatible server without litellm in between.
        structured_output: whether the service accepts a JSON schema; None asks litellm, which knows it of the big
            services' models, and sends none to a server of your own.
        extra: further parameters, which are sent as they are.

    Raises:
        SettingError: the settings do not fit together, or ``module:attribute`` makes no model.
    """
    if transport == "litellm" and (model in MODELS.names() or is_target(model)):
        made = MODELS.make(model)
        if not isinstance(made, ChatModel):
            raise SettingError(
                f"Making the model {model!r}: expected an object with name, check, complete and complete_batch, "
                f"got {type(made).__name__}. Add what is missing."
            )
        return made
    remember_secret(os.environ.get(api_key_env) if api_key_env else None)
    remember_address(api_base)
    remember_headers(extra or {})
    given = {"temperature": temperature, "top_p": top_p, "max_tokens": max_tokens, **(extra or {})}
    parameters = {name: value for name, value in given.items() if value is not None}
    if "api_key" in parameters:
        raise SettingError(
            "Making a model: expected no key among its parameters, since these go into manifests, got 'api_key'. "
            "Put the key into an environment variable and name that in api_key_env."
        )
    if api_key_env is not None and split_user(api_base)[1]:
        raise SettingError(
            f"Making the model {model!r}: expected either a key or a user in the api_base, got both, which are said in "
            "the same header. Leave one out."
        )
    identity = {"model": model, "api_base": api_base, "parameters": parameters, "structured_output": structured_output}
    if transport == "http":
        if api_base is None:
            raise SettingError(f"Making the model {model!r}: expected an api_base with transport='http', got none.")
        from elicit_gym.llm.http_transport import HTTPTransport

        http = HTTPTransport(model, api_base=api_base, api_key_env=api_key_env, timeout=timeout)
        return ServiceChatModel(model, http, parameters=parameters, identity=identity, send_schema=structured_output)
    if transport != "litellm":
        raise SettingError(f"Making the model {model!r}: expected transport 'litellm' or 'http', got {transport!r}.")
    from elicit_gym.llm.litellm_transport import LiteLLMTransport

    through = LiteLLMTransport(model, api_base=api_base, api_key_env=api_key_env, timeout=timeout)
    return ServiceChatModel(model, through, parameters=parameters, identity=identity, send_schema=structured_output)
