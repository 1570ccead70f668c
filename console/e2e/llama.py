"""llama.cpp's own server with one of two models, for as long as standard input stays open. Prints address, key and model.

`python llama.py small`: SmolLM2, which speaks. `python llama.py tiny`: the model written by hand, which calls the tools it is given.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tests.support import small_model, tiny_model  # noqa: E402
from tests.support.llama import KEY, NAME, llama_serving  # noqa: E402


def main(name: str) -> None:
    with TemporaryDirectory(prefix="atrium-llama-") as folder:
        model = Path(folder, "model.gguf")
        if name == "small":
            model.symlink_to(small_model.install())
        else:
            tiny_model.build(model)
        with llama_serving(model) as llama:
            print(llama.url, KEY, NAME, flush=True)
            sys.stdin.read()


main(sys.argv[1])
