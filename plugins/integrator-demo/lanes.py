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

# Days from door to door. A real integration would ask its own system; the workspace would not notice the difference.
LANES = {
    "AMS-LIS": 3, "AMS-MAD": 3, "HAM-NYC": 14, "LIS-REK": 9, "MAD-BUE": 21, "ROT-SIN": 28, "REK-AMS": 5, "SIN-ROT": 30,
}  # fmt: skip


def eta(lane: object) -> dict[str, Any]:
    """The estimated days of a lane."""
    if not isinstance(lane, str) or not lane:
        raise UserError("`lane` is missing; it looks like AMS-LIS")
    days = LANES.get(lane.strip().upper())
    if days is None:
        raise UserError(f"there is no lane {lane[:40]}; the lanes are {', '.join(LANES)}")
    return {"lane": lane.strip().upper(), "days": days}


async def shipment_eta(db: Transaction, principal: Principal, arguments: dict[str, Any]) -> dict[str, Any]:
    """The tool."""
    return eta(arguments.get("lane"))


async def eta_from_query(ctx: Context, request: PluginRequest) -> dict[str, Any]:
    """The route, with the lane in the query."""
    return eta(request.query.get("lane"))


async def eta_from_body(ctx: Context, request: PluginRequest) -> dict[str, Any]:
    """The route, with the lane in the body."""
    return eta(request.body.get("lane") if isinstance(request.body, dict) else None)


class ReportAsk(msgspec.Struct, forbid_unknown_fields=True):
    """What a report is about."""

    lane: Annotated[str, msgspec.Meta(min_length=1, max_length=40)]


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
            run=shipment_eta,
            parameters=(Parameter(name="lane", type="string", description="Origin and destination, such as AMS-LIS."),),
        ),
    ),
    job_kinds=(
        JobKind(
            name="x.integrator-demo.lane-report",
            description="Report on a lane's shipments, made by the integrator's own worker.",
            arguments=ReportAsk,
            problem_with=problem_with_report,
        ),
    ),
    routes=(
        PluginRoute("GET", "/eta", "chat:use", eta_from_query, "Estimated days of the `lane` in the query."),
        PluginRoute("POST", "/eta", "chat:use", eta_from_body, "Estimated days of the `lane` in the body."),
    ),
)
