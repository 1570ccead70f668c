"""Prints what it was started with, for tests/architecture/test_forked.py."""

import os
import signal
import sys
import time

if __name__ == "__main__":
    heard = (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGCHLD)
    print(sys.argv[1:], os.getcwd(), sys.path[0], __name__)
    print({name: value for name, value in os.environ.items() if not name.startswith("PYTEST")})
    print([name for name in os.environ if name.startswith("SERVICE_")])
    print([str(signal.getsignal(one)) for one in heard], file=sys.stderr)
    print(os.read(0, 1), signal.pthread_sigmask(signal.SIG_BLOCK, ()), os.getpgid(0), os.getsid(0))
    print(sorted(os.listdir("/proc/self/fd"))[:3])
    if "raise" in sys.argv:
        raise RuntimeError("planted")
    if "wait" in sys.argv:
        print("waiting")
        time.sleep(60)
    sys.exit(7)
