"""A tiny random causal language model with a word-level tokenizer, made from nothing."""

from typing import Any

CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
LLAMA = (
    "{{ '<|begin|>' }}{% for m in messages %}{{ '<|header|>' + m['role'] + '<|end_header|>\n\n' + m['content'] | trim "
    "+ '<|eot|>' }}{% endfor %}{% if add_generation_prompt %}{{ '<|header|>assistant<|end_header|>\n\n' }}{% endif %}"
)
DEEPSEEK = (
    "{{ '<|begin|>' }}{% for m in messages %}{% if m['role'] == 'user' %}{{ '<|User|>' + m['content'] }}"
    "{% elif m['role'] == 'assistant' %}{{ '<|Assistant|>' + m['content'].split('</think>')[-1] + '<|end|>' }}"
    "{% else %}{{ m['content'] }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|Assistant|><think>\n' }}{% endif %}"
)
TEMPLATES = {"chatml": CHATML, "llama": LLAMA, "deepseek": DEEPSEEK}
SPECIAL = [
    "<|im_start|>", "<|im_end|>", "<|begin|>", "<|header|>", "<|end_header|>", "<|eot|>", "<|User|>", "<|Assistant|>",
    "<|end|>", "<pad>",
]  # fmt: skip


def tiny_tokenizer(template: str = "chatml") -> Any:
    """Return a byte-level tokenizer with the family's template and end token."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocab = {character: i for i, character in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    inner = Tokenizer(models.BPE(vocab=vocab, merges=[]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    end = {"chatml": "<|im_end|>", "llama": "<|eot|>", "deepseek": "<|end|>"}[template]
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, eos_token=end, pad_token="<pad>")
    tokenizer.add_special_tokens({"additional_special_tokens": [s for s in SPECIAL if s not in (end, "<pad>")]})
    tokenizer.chat_template = TEMPLATES[template]
    tokenizer.padding_side = "left"
    return tokenizer


def tiny_model(tokenizer: Any, seed: int = 0) -> Any:
    """Return a random Llama of two layers."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
            num_key_value_heads=2, max_position_embeddings=2048,
        )
    )  # fmt: skip
