"""llama.cpp's own HTTP server on loopback, in a process of its own: `python -m tests.support.llama MODEL PORT`."""

import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.patience import PATIENCE
from tests.support.processes import ROOT, free_port
from tests.support.tiny_model import CONTEXT

KEY = "sk-tiny-test-key"
NAME = "tiny"


@dataclass(frozen=True, slots=True)
class Llama:
    """A server that answers; `stop` takes it away."""

    process: "subprocess.Popen[bytes]"
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def busy(self) -> bool:
        """Whether it is still generating for somebody."""
        with urllib.request.urlopen(_asked(self.port, "/metrics"), timeout=PATIENCE) as reply:
            return b"llamacpp:requests_processing 0" not in reply.read()

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def llama_serving(model: Path) -> Iterator[Llama]:
    """Ready; killed at the end."""
    port = free_port()
    with (model.parent / f"llama-{port}.log").open("wb") as log:
        command = [sys.executable, "-m", "tests.support.llama", str(model), str(port)]
        process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    llama = Llama(process, port)
    try:
        _until_healthy(llama, Path(log.name))
        yield llama
    finally:
        llama.stop()


def _until_healthy(llama: Llama, log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            urllib.request.urlopen(_asked(llama.port, "/health"), timeout=PATIENCE).close()
            return
        except OSError:
            assert llama.process.poll() is None, log.read_text(errors="replace")[-2000:]
            assert time.monotonic() < deadline, log.read_text(errors="replace")[-2000:]
            time.sleep(0.05)


def _asked(port: int, path: str) -> urllib.request.Request:
    return urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"authorization": f"Bearer {KEY}"})


def main(model: str, port: int) -> None:
    """Serve until SIGTERM."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path, parameters.model_alias = model, {NAME}
    parameters.hostnames, parameters.port, parameters.api_keys = ["127.0.0.1"], port, [KEY]
    parameters.n_parallel = 2
    parameters.n_ctx = CONTEXT * parameters.n_parallel
    parameters.cpuparams.n_threads = 1
    parameters.use_jinja, parameters.endpoint_metrics, parameters.ui, parameters.offline = True, True, False, True
    parameters.cache_ram_mib = 0
    # The same question always gets the same answer.
    parameters.sampling.temp, parameters.sampling.seed = 0, 7
    server = xllamacpp.Server(parameters)
    print("listening at", server.listening_address, flush=True)
    signal.sigwait({signal.SIGTERM, signal.SIGINT})


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
