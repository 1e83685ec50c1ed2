"""A child process that serves the built-in model on loopback until its standard input ends.

    python -m assistant.llm.local_server WEIGHTS CONTEXT THREADS

The key that requests must carry is the first line of standard input; the address is the first line of standard output.
"""

import os
import sys


def main() -> None:
    """Load, say where, serve; the parent's death closes standard input, and that ends us."""
    weights, context, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    key = sys.stdin.readline().strip()
    os.putenv("OMP_WAIT_POLICY", "passive")  # read when the library loads: waiting threads must not spin on busy cores
    import xllamacpp

    wanted = xllamacpp.CommonParams()
    wanted.model.path = weights
    wanted.hostnames = ["127.0.0.1"]
    wanted.port = 0
    wanted.api_keys = [key]
    wanted.verbosity = 1
    wanted.n_ctx = context
    wanted.n_parallel = 1
    wanted.use_jinja = True
    wanted.ui = False
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = threads
    server = xllamacpp.Server(wanted)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
