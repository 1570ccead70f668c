"""Which notes a caller may know of, and what they may do with one."""

from collections.abc import Sequence
from uuid import UUID

from atrium.ground.sharing import abilities, grants
from atrium.ground.sharing.model import Ability
from atrium.kit.web.etags import names_tag
from atrium.product.notes import store
from atrium.product.notes.model import KIND, NOTES, FoundNote, Note, NoteMissing, NoteReply, NoteStale
from atrium.seams.context import Context, Principal
from atrium.seams.sharing import hand_out


async def read_visible(ctx: Context, id: UUID, *, lock: bool = False) -> FoundNote:
    """The note, when the caller may know of it."""
    note = await store.find_note(ctx.db, ctx.who, id, lock=lock)
    if note is None or not await hand_out(ctx, KIND, [id]):
        raise NoteMissing("there is no such note, or it is not shared with you")
    return note


async def require(ctx: Context, note: Note, ability: Ability) -> None:
    """Refuse what the caller, or anybody by whom they are bound, may not do with a note."""
    for each in ctx.each_bound((KIND, note.id)):
        abilities.require(each, NOTES, note, ability, await list_levels(ctx, note, each.who))
    if abilities.is_confined(ctx) and ability != "read":
        abilities.require_no_readers(ctx, note, shared=await grants.is_granted(ctx, NOTES, note.id))


async def list_levels(ctx: Context, note: Note, who: Principal) -> list[str]:
    """The levels of the grants that a person holds on a note; an owner needs none."""
    if isinstance(note, FoundNote) and who is ctx.who:
        return note.held
    return await grants.list_levels(ctx, NOTES, note, who)


async def show(ctx: Context, note: Note, held: Sequence[str] | None = None) -> NoteReply:
    """A note as the caller is answered, with what they may do."""
    levels = await list_levels(ctx, note, ctx.who) if held is None else held
    shown = {name: getattr(note, name) for name in Note.__struct_fields__}
    return NoteReply(**shown, **abilities.offer(ctx.who, NOTES, note, levels))


def require_current(note: Note, if_match: str | None) -> None:
    """Refuse to act on a note that is no longer what the caller has seen."""
    if if_match is not None and not names_tag(if_match, note.etag()):
        raise NoteStale(
            "a newer version was saved; read it, merge, and save again", current=note.etag(), version=note.version
        )
