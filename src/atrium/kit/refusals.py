"""How a command fails: one sentence for the user, and an exit code."""


class CommandError(Exception):
    """Something has to be changed before this can be done; the message says what. The command ends with `code`."""

    code = 2


class CommandFailure(CommandError):
    """Something outside did not work; the same command may succeed later."""

    code = 1
