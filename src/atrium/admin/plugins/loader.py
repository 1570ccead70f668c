"""Discover, import, check, then register: one that fails leaves nothing behind and never stops the others."""

import importlib.metadata
import importlib.util
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType

from atrium.admin.plugins import bundles, manifest
from atrium.admin.plugins.manifest import PluginManifest
from atrium.admin.plugins.model import LoadRefused
from atrium.ground.access.model import PERMISSIONS
from atrium.ground.features.model import FEATURES
from atrium.kit.files.paths import path_inside
from atrium.kit.signatures import is_async_of, is_struct
from atrium.product.onboarding import experience
from atrium.seams import jobs, tools
from atrium.seams.jobs import JobKind
from atrium.seams.tools import Tool
from atrium.seams.wiring import LoadedPlugin, Plugin, PluginRoute, Registry
from atrium.seams.workflows import read_workflow

NAMESPACE = "atrium_plugins"
ENTRY_POINTS = "atrium.plugins"
WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})
_SEGMENT = r"(?:[a-z0-9][a-z0-9._-]*|:[a-z][a-z0-9_]*)"
_PATH = re.compile(rf"(?:/{_SEGMENT})+")
_NAMES = re.compile(r":(\w+)")
_KIND = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_STORE = re.compile(r"[a-z][a-z0-9-]{0,39}")


def load_plugins(folders: list[Path], registry: Registry) -> None:
    """Load every plugin found into the registry; a broken one is noted there with its reason."""
    for name, locate in _discover(folders):
        try:
            _load(locate(), registry)
        except (Exception, SystemExit) as error:  # a plugin's module may raise anything; its load is the boundary
            registry.failed_plugins[name] = _reason(error)


def _discover(folders: list[Path]) -> Iterator[tuple[str, Callable[[], Path]]]:
    for root in folders:
        for path in sorted(root.glob(f"*/{manifest.NAME}")):
            yield path.parent.name, partial(Path, path.parent)
    for point in importlib.metadata.entry_points(group=ENTRY_POINTS):
        yield point.name, partial(_folder_of, point.value)


def _folder_of(package: str) -> Path:
    try:
        spec = importlib.util.find_spec(package)
    except ImportError as error:
        raise LoadRefused(f"entry point {package}: {error}") from error
    if spec is None or not spec.submodule_search_locations:
        raise LoadRefused(f"entry point {package} is not a package")
    return Path(next(iter(spec.submodule_search_locations)))


def _load(folder: Path, registry: Registry) -> None:
    card = manifest.read_manifest(folder)
    if card.id in registry.plugins:
        raise LoadRefused(f"a plugin {card.id} is loaded already")
    if card.id != folder.name and not (folder / "__init__.py").exists():
        raise LoadRefused(f"plugin.toml says id {card.id}, but the folder is {folder.name}")
    name = f"{NAMESPACE}.{card.id.replace('-', '_')}"
    try:
        plugin = _plugin_in(_import(folder, card, name), card)
        problems = [
            *_problems_with_tools(plugin, registry),
            *_problems_with_routes(plugin),
            *_problems_with_kinds(plugin, card),
            *_problems_with_stores(plugin, registry),
            *_problems_with_documents(plugin, registry),
        ]
        if problems:
            raise LoadRefused("; ".join(problems))
        folders = bundles.folders_of(folder)
        titles = bundles.titles_of(folders)
    except BaseException:
        for loaded in [module for module in sys.modules if module == name or module.startswith(name + ".")]:
            del sys.modules[loaded]
        raise
    _register(card, plugin, folders, titles, registry)


def _import(folder: Path, card: PluginManifest, name: str) -> ModuleType:
    """Import the entry as a package of its own name, so that relative imports work and two plugins never collide."""
    entry = path_inside(folder, card.entry)
    if entry is None:
        raise LoadRefused(f"entry {card.entry} is not a file in the plugin")
    spec = importlib.util.spec_from_file_location(name, entry, submodule_search_locations=[str(folder)])
    if spec is None or spec.loader is None:
        raise LoadRefused(f"entry {card.entry} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _plugin_in(module: ModuleType, card: PluginManifest) -> Plugin:
    plugin = getattr(module, "PLUGIN", None)
    if not isinstance(plugin, Plugin):
        raise LoadRefused(f"{card.entry} has no PLUGIN = Plugin(...)")
    return plugin


def _problems_with_tools(plugin: Plugin, registry: Registry) -> Iterator[str]:
    seen: set[str] = set()
    for tool in plugin.tools:
        if not isinstance(tool, Tool):
            yield f"{tool!r} is not a Tool"
            continue
        if tool.name in registry.tools or tool.name in seen:
            yield f"tool {tool.name}: the name is taken"
        yield from (f"tool {tool.name}: {text}" for text in tools.problems_with(tool, PERMISSIONS, FEATURES))
        seen.add(tool.name)


def _problems_with_routes(plugin: Plugin) -> Iterator[str]:
    seen: dict[str, str] = {}
    for route in plugin.routes:
        if not isinstance(route, PluginRoute):
            yield f"{route!r} is not a PluginRoute"
            continue
        where = f"route {route.method} {route.path}"
        if route.method not in _METHODS or not _PATH.fullmatch(route.path):
            yield f"{where}: malformed method or path"
        if route.path.split("/")[1:2] == [bundles.BUNDLE]:
            yield f"{where}: bundle/ is reserved"
        names = _NAMES.findall(route.path)
        if len(set(names)) != len(names):
            yield f"{where}: names a parameter twice"
        if route.permission not in PERMISSIONS:
            yield f"{where}: unknown permission {route.permission}"
        if not route.doc:
            yield f"{where}: needs a doc line"
        if any(kind is not None and not is_struct(kind) for kind in (route.query, route.body)):
            yield f"{where}: query and body must be msgspec structs"
        if route.body is not None and route.method not in WITH_BODY:
            yield f"{where}: {route.method} takes no body"
        if not is_async_of(route.handler, 2):
            yield f"{where}: the handler must be async and take (context, request)"
        if route.name in seen:
            yield (
                f"{where}: declared twice"
                if seen[route.name] == where
                else f"{where}: too much like {seen[route.name]}"
            )
        seen[route.name] = where


def _problems_with_kinds(plugin: Plugin, card: PluginManifest) -> Iterator[str]:
    prefix, seen = f"x.{card.id}.", set[str]()
    for kind in plugin.job_kinds:
        if not isinstance(kind, JobKind):
            yield f"{kind!r} is not a JobKind"
            continue
        if not kind.name.startswith(prefix) or not _KIND.fullmatch(kind.name[len(prefix) :]):
            yield f"job kind {kind.name}: a name is {prefix} and lower-case letters, digits and dashes"
        if kind.name in seen:
            yield f"job kind {kind.name}: declared twice"
        yield from (f"job kind {kind.name}: {text}" for text in jobs.problems_with(kind))
        seen.add(kind.name)


def _problems_with_stores(plugin: Plugin, registry: Registry) -> Iterator[str]:
    for name, factory in plugin.blob_stores.items():
        if not _STORE.fullmatch(name):
            yield f"blob store {name}: a name is lower-case letters, digits and dashes"
        if name in registry.blob_stores:
            yield f"blob store {name}: the name is taken"
        if not callable(factory):
            yield f"blob store {name}: must be a function of the settings"


def _problems_with_documents(plugin: Plugin, registry: Registry) -> Iterator[str]:
    taken = {spec.slug for one in registry.plugins.values() for spec in one.workflows}
    for document in plugin.workflows:
        try:
            slug = read_workflow(document).slug
        except ValueError as error:
            yield f"workflow {_slug_of(document)}: {error}"
            continue
        if slug in taken:
            yield f"workflow {slug}: the slug is taken"
        taken.add(slug)
    if plugin.onboarding is not None:
        try:
            experience.read(plugin.onboarding)
        except (ValueError, TypeError) as error:
            yield f"onboarding: {error}"


def _slug_of(document: object) -> str:
    return str(document.get("slug", "without a slug")) if isinstance(document, Mapping) else repr(document)


def _register(
    card: PluginManifest, plugin: Plugin, folders: dict[str, Path], titles: dict[str, str] | None, registry: Registry
) -> None:
    source = f"plugin:{card.id}"
    registry.tools |= {tool.name: replace(tool, source=source) for tool in plugin.tools}
    registry.job_kinds |= {kind.name: replace(kind, source=source) for kind in plugin.job_kinds}
    registry.blob_stores |= plugin.blob_stores
    registry.plugins[card.id] = LoadedPlugin(
        id=card.id,
        name=card.name,
        version=card.version,
        description=card.description,
        plugin=plugin,
        workflows=tuple(map(read_workflow, plugin.workflows)),
        onboarding=experience.read(plugin.onboarding) if plugin.onboarding is not None else None,
        bundles=folders,
        page=titles,
    )


def _reason(error: BaseException) -> str:
    if isinstance(error, LoadRefused):
        return str(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})"
