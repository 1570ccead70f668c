"""Runs a model of rules against the real thing, for so many steps."""

from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from tests.support.processes import PROOFS


def run_machine(machine: type[RuleBasedStateMachine], steps: int, per_run: int) -> None:
    """In the gate always the same runs; proofs draw theirs."""
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=max(1, steps // per_run),
            stateful_step_count=per_run,
            deadline=None,
            derandomize=not PROOFS,
            suppress_health_check=list(HealthCheck),
            database=None,
            print_blob=PROOFS,
        ),
    )
