"""A Hugging Face causal language model with its tokenizer and adapter, from the hub or a folder."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from elicit_gym.errors import MissingExtraError, SettingError, StorageError
from elicit_gym.json_files import read_json
from elicit_gym.offline.model_input import end_token_id

__all__ = ["adapter_sha256", "best_device", "load_model", "loaded_sha256"]


def best_device() -> str:
    """Return the best device that this machine has: ``cuda`` or ``cpu``."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def load_model(
    model: str,
    *,
    adapter: str | Path | None = None,
    dtype: str = "auto",
    device: str | None = None,
    load_in_8bit: bool = False,
    trainable: bool = False,
) -> tuple[Any, Any]:
    """Load a causal language model and its tokenizer.

    Args:
        model: an id on the hub, or a folder.
        adapter: a folder with a LoRA adapter for this model, as safetensors.
        dtype: ``auto``, ``float32``, ``bfloat16`` or ``float16``.
        device: ``cpu``, ``cuda``, ...; the best available one by default.
        load_in_8bit: whether to quantize the weights (LLM.int8), where bitsandbytes runs.
        trainable: whether the adapter is loaded to be trained on.

    Returns:
        The model, in evaluation mode, and the tokenizer, which pads on the left.

    Raises:
        MissingExtraError: torch or transformers is not installed.
        SettingError: the model or adapter cannot be loaded, or does not fit together.

    References:
        Dettmers et al. (2022), "LLM.int8()".
    """
    try:
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ImportError as error:
        raise MissingExtraError("Loading a local model", "train") from error
    kwargs: dict[str, Any] = {"dtype": dtype, "use_safetensors": True}
    if load_in_8bit:
        kwargs["quantization_config"] = _eight_bit()
    try:
        tokenizer = AutoTokenizer.from_pretrained(model, trust_remote_code=False)
        # Said outright here and everywhere: where it is not, transformers asks whether a model's own code may run.
        network = AutoModelForCausalLM.from_pretrained(model, trust_remote_code=False, **kwargs)
    except Exception as error:  # a broken folder raises errors of half a dozen libraries, some of them bare
        raise SettingError(
            f"Loading the model {model!r}: expected a hub id or a folder with a causal language model as safetensors, "
            f"got {type(error).__name__}: {str(error)[:300]} Check the name."
        ) from error
    if adapter is not None:
        network = _with_adapter(network, Path(adapter), trainable)
    tokenizer.padding_side = "left"
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token_id = end_token_id(tokenizer)
    moved: Any = network
    return (moved if load_in_8bit else moved.to(device or best_device())).eval(), tokenizer


def loaded_sha256(network: Any) -> str:
    """Return a hash over the weights of a model in memory, adapter included."""
    return _sha256(network.state_dict())


def adapter_sha256(network: Any) -> str | None:
    """Return a hash over the weights of a model's adapter; None where it has none."""
    from peft import PeftModel, get_peft_model_state_dict

    return _sha256(get_peft_model_state_dict(network)) if isinstance(network, PeftModel) else None


def _sha256(weights: Mapping[str, Any]) -> str:
    import torch

    digest = sha256()
    for name, tensor in sorted(weights.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
    return digest.hexdigest()


def _eight_bit() -> Any:
    from importlib.util import find_spec

    if find_spec("bitsandbytes") is None:
        raise MissingExtraError("Loading a model in 8 bit", "8bit")
    from transformers import BitsAndBytesConfig

    return BitsAndBytesConfig(load_in_8bit=True)  # type: ignore[no-untyped-call]


def _with_adapter(network: Any, adapter: Path, trainable: bool) -> Any:
    from peft import PeftModel

    if not (adapter / "adapter_model.safetensors").is_file():
        raise SettingError(
            f"Loading the adapter {adapter}: expected adapter_model.safetensors, got none. Check the path."
        )
    _check_adapter_config(adapter)
    try:
        return PeftModel.from_pretrained(network, str(adapter), is_trainable=trainable)
    except Exception as error:  # as above
        raise SettingError(
            f"Loading the adapter {adapter}: expected one made for {network.config.name_or_path!r}, got one that does "
            f"not fit ({type(error).__name__}: {str(error)[:200]}). Use its own base model."
        ) from error


def _check_adapter_config(adapter: Path) -> None:
    """Refuse an adapter that is more than weights: PEFT has kinds that import, load or copy what their config names.

    Raises:
        SettingError: it is of another kind than LoRA, or one of those settings is made.
    """
    path = adapter / "adapter_config.json"
    try:
        config = read_json(path, "the config of a LoRA adapter")
    except StorageError as error:
        raise SettingError(f"Loading the adapter {adapter}: {error}") from error
    kind = config.get("peft_type") if isinstance(config, dict) else None
    if kind != "LORA":
        raise SettingError(f"Loading {path}: expected an adapter with the peft_type 'LORA', got {kind!r:.60}.")
    for name in ("megatron_config", "layer_replication", "tokenizer_name_or_path"):
        if config.get(name) is not None:
            raise SettingError(
                f"Loading {path}: expected a LoRA adapter without {name!r}, got {config[name]!r:.60}. Train it without."
            )
