"""The system calls that a confined process may not make, compiled to a seccomp program by the system's libseccomp."""

import ctypes
import errno
import os
from functools import lru_cache

_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NOT_EQUAL, _MASKED_EQUAL = 1, 7
_WORD = 0xFFFFFFFF
_LIBRARY = "libseccomp.so.2"

# Refused with EPERM, whatever their arguments.
_REFUSED = (
    "acct", "add_key", "adjtimex", "bpf", "chroot", "clock_adjtime", "clock_settime", "delete_module", "fanotify_init", "finit_module",
    "fsconfig", "fsmount", "fsopen", "fspick", "init_module", "ioperm", "iopl", "io_uring_enter", "io_uring_register",
    "io_uring_setup", "kcmp", "kexec_file_load", "kexec_load", "keyctl", "lookup_dcookie", "mbind", "memfd_create", "memfd_secret",
    "migrate_pages", "modify_ldt", "mount", "mount_setattr", "move_mount", "move_pages", "name_to_handle_at", "nfsservctl",
    "open_by_handle_at", "open_tree", "perf_event_open", "personality", "pidfd_getfd", "pidfd_open", "pivot_root", "process_madvise",
    "process_vm_readv", "process_vm_writev", "ptrace", "quotactl", "quotactl_fd", "reboot", "request_key", "setdomainname",
    "sethostname", "setns", "settimeofday", "swapoff", "swapon", "sysfs", "syslog", "umount", "umount2", "unshare", "uselib",
    "userfaultfd", "ustat", "vhangup", "fork", "vfork", "setpgid", "setsid", "socket", "socketcall", "bind", "connect", "listen",
    "accept", "accept4", "msgget", "mq_open", "semget", "shmget",
)  # fmt: skip
# Refused as if the kernel did not have them: programs then take the older call, whose arguments can be checked.
_ABSENT = ("clone3",)

_CLONE_THREAD = 0x00010000
_CLONE_NEW = (0x00000080, 0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000)
_MAP_SHARED_ANONYMOUS, _MAP_GROWSDOWN = 0x21, 0x100
_AF_UNIX = 1
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C

# Refused with EPERM for these arguments: (call, argument, comparison, first value, second value).
_CONDITIONS: tuple[tuple[str, int, int, int, int], ...] = (
    # Threads, but no processes: one process is then all that the limit of memory has to hold.
    ("clone", 0, _MASKED_EQUAL, _CLONE_THREAD, 0),
    *(("clone", 0, _MASKED_EQUAL, flag, flag) for flag in _CLONE_NEW),
    # Memory that the limit of a process's data does not count.
    ("mmap", 3, _MASKED_EQUAL, _MAP_SHARED_ANONYMOUS, _MAP_SHARED_ANONYMOUS),
    ("mmap", 3, _MASKED_EQUAL, _MAP_GROWSDOWN, _MAP_GROWSDOWN),
    ("socketpair", 0, _NOT_EQUAL, _AF_UNIX, 0),
    ("ioctl", 1, _MASKED_EQUAL, _WORD, _TIOCSTI),
    ("ioctl", 1, _MASKED_EQUAL, _WORD, _TIOCLINUX),
)


class FilterUnavailable(Exception):
    """There is no libseccomp here, or it refuses the filter; the message says which."""


class _Comparison(ctypes.Structure):
    _fields_ = (
        ("argument", ctypes.c_uint),
        ("operator", ctypes.c_int),
        ("first", ctypes.c_uint64),
        ("second", ctypes.c_uint64),
    )


@lru_cache(maxsize=1)
def compiled_filter() -> bytes:
    """The program for this machine's processor, as the kernel and bubblewrap take it; other processors' calls end the process."""
    library = _library()
    rules = library.seccomp_init(_ALLOW)
    if not rules:
        raise FilterUnavailable(f"{_LIBRARY} could not begin a filter")
    try:
        for name in _REFUSED:
            _refuse(library, rules, name, errno.EPERM)
        for name in _ABSENT:
            _refuse(library, rules, name, errno.ENOSYS)
        for name, argument, operator, first, second in _CONDITIONS:
            _refuse(library, rules, name, errno.EPERM, _Comparison(argument, operator, first, second))
        return _exported(library, rules)
    finally:
        library.seccomp_release(rules)


def _library() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(_LIBRARY)
    except OSError as error:
        raise FilterUnavailable(f"{_LIBRARY} is missing; install libseccomp2") from error
    library.seccomp_init.restype = ctypes.c_void_p
    library.seccomp_init.argtypes = (ctypes.c_uint32,)
    library.seccomp_release.argtypes = (ctypes.c_void_p,)
    library.seccomp_syscall_resolve_name.argtypes = (ctypes.c_char_p,)
    library.seccomp_export_bpf.argtypes = (ctypes.c_void_p, ctypes.c_int)
    library.seccomp_rule_add_array.argtypes = (
        ctypes.c_void_p,
        ctypes.c_uint32,
        ctypes.c_int,
        ctypes.c_uint,
        ctypes.POINTER(_Comparison),
    )
    return library


def _refuse(library: ctypes.CDLL, rules: int, name: str, error: int, *when: _Comparison) -> None:
    number = library.seccomp_syscall_resolve_name(name.encode())
    if number < 0:
        # This processor never had the call, or the library is older than the call.
        return
    conditions = (_Comparison * len(when))(*when)
    if problem := library.seccomp_rule_add_array(rules, _ERRNO | error, number, len(when), conditions):
        raise FilterUnavailable(f"{_LIBRARY} refuses a rule for {name}: {os.strerror(-problem)}")


def _exported(library: ctypes.CDLL, rules: int) -> bytes:
    reading, writing = os.pipe()
    try:
        # A program of a hundred rules has a few thousand bytes, and a pipe holds 65,536.
        problem = library.seccomp_export_bpf(rules, writing)
    finally:
        os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        program = pipe.read()
    if problem or not program:
        raise FilterUnavailable(f"{_LIBRARY} could not compile the filter: {os.strerror(-problem)}")
    return program
