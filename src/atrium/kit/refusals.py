"""How a command fails: one sentence for the user, and an exit code."""


class Refusal(Exception):
    """Something has to be changed before this can be done; the message says what. The command ends with `code`."""

    code = 2


class Failure(Refusal):
    """Something outside did not work; the same command may succeed later."""

    code = 1
