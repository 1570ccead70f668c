"""Shipping lanes: how long one takes, as a tool and over HTTP, and reports about them made by the integrator's own workers."""

from typing import Annotated, Any

import msgspec

from atrium.sdk import (
    Context,
    JobKind,
    Parameter,
    Plugin,
    PluginRequest,
    PluginRoute,
    Principal,
    Tool,
    Transaction,
    UserError,
)

# Days in transit. A real integration would ask its own system; the workspace would not notice the difference.
LANES = {
    "AMS-LIS": 3, "AMS-MAD": 3, "HAM-NYC": 14, "LIS-REK": 9, "MAD-BUE": 21, "ROT-SIN": 28, "REK-AMS": 5, "SIN-ROT": 30,
}  # fmt: skip


class Lane(msgspec.Struct, forbid_unknown_fields=True):
    """Which lane."""

    lane: Annotated[
        str, msgspec.Meta(min_length=1, max_length=40, description="Origin and destination, such as AMS-LIS.")
    ]
    __example__ = {"lane": "AMS-LIS"}


class Eta(msgspec.Struct):
    """How long a lane takes."""

    lane: str
    days: int


def eta(lane: str) -> Eta:
    """The estimated days of a lane."""
    days = LANES.get(lane.strip().upper())
    if days is None:
        raise UserError(f"there is no lane {lane}; the lanes are {', '.join(LANES)}")
    return Eta(lane.strip().upper(), days)


async def shipment_eta(db: Transaction, principal: Principal, arguments: dict[str, Any]) -> Eta:
    """The tool."""
    return eta(arguments["lane"])


async def eta_from_query(ctx: Context, request: PluginRequest) -> Eta:
    """The route, with the lane in the query."""
    return eta(request.query.lane)


async def eta_from_body(ctx: Context, request: PluginRequest) -> Eta:
    """The route, with the lane in the body."""
    return eta(request.body.lane)


class Report(msgspec.Struct, forbid_unknown_fields=True):
    """What a worker must send back."""

    lane: str
    shipments: Annotated[int, msgspec.Meta(ge=0)]
    on_time: Annotated[float, msgspec.Meta(ge=0, le=1)]
    remarks: str = ""


def problem_with_report(result: Any) -> str | None:
    """What is wrong with a worker's report."""
    try:
        msgspec.convert(result, Report)
    except msgspec.ValidationError as error:
        return str(error)
    return None


PLUGIN = Plugin(
    tools=(
        Tool(
            name="shipment_eta",
            description="Estimate how many days a shipment takes on a lane.",
            permission="chat:use",
            effect="read",
            untrusted=False,
            run=shipment_eta,
            parameters=(Parameter(name="lane", type="string", description="Origin and destination, such as AMS-LIS."),),
        ),
    ),
    job_kinds=(
        JobKind(
            name="x.integrator-demo.lane-report",
            description="Report on a lane's shipments, made by the integrator's own worker.",
            arguments=Lane,
            problem_with=problem_with_report,
        ),
    ),
    routes=(
        PluginRoute(
            "GET",
            "/eta",
            "chat:use",
            eta_from_query,
            "Estimated days of the `lane` in the query.",
            query=Lane,
            reply=Eta,
        ),
        PluginRoute(
            "POST",
            "/eta",
            "chat:use",
            eta_from_body,
            "Estimated days of the `lane` in the body.",
            body=Lane,
            reply=Eta,
        ),
    ),
)
