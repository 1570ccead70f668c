"""Theme tokens as data: the closed set of names, the console's own values, and which colours must be told apart."""

from atrium.product.branding.model import Theme

TEXT, INTERFACE = 4.5, 3.0
FONTS = ("system", "inter", "serif", "rounded")
MODES = ("", "dark-")
_LIGHT = {
    "bg": "#f7f8fa",
    "surface": "#ffffff",
    "surface-2": "#eef0f4",
    "text": "#14171f",
    "text-muted": "#565d6d",
    "border": "#dcdfe6",
    "border-strong": "#7f8798",
    "accent": "#3b49df",
    "on-accent": "#ffffff",
    "accent-text": "#3240c9",
    "accent-soft": "#e8eafd",
    "focus": "#3b49df",
    "success": "#0b6b3a",
    "warning": "#8a4b00",
    "danger": "#b3202c",
    "on-danger": "#ffffff",
    "info": "#0a5a9c",
    "nav-bg": "#ffffff",
    "nav-text": "#414858",
    "nav-active": "#e8eafd",
    "nav-active-text": "#2733a8",
    "chart-1": "#3b49df",
    "chart-2": "#0e7c66",
    "chart-3": "#b4540a",
    "chart-4": "#a3248f",
    "chart-5": "#55708c",
    "chart-6": "#8a6d00",
}
_DARK = {
    "bg": "#0e1116",
    "surface": "#161a22",
    "surface-2": "#1f2530",
    "text": "#e8ebf1",
    "text-muted": "#a2abbb",
    "border": "#2a313e",
    "border-strong": "#717c90",
    "accent": "#6b78ff",
    "on-accent": "#0b0d14",
    "accent-text": "#a3acff",
    "accent-soft": "#232a4d",
    "focus": "#8f9aff",
    "success": "#5fd39a",
    "warning": "#f0b357",
    "danger": "#ff8a8f",
    "on-danger": "#1c0708",
    "info": "#7cc0ff",
    "nav-bg": "#12161d",
    "nav-text": "#b4bccb",
    "nav-active": "#232a4d",
    "nav-active-text": "#c6ccff",
    "chart-1": "#8f9aff",
    "chart-2": "#4fc3a5",
    "chart-3": "#f0955a",
    "chart-4": "#e07ad0",
    "chart-5": "#9db4cc",
    "chart-6": "#d9b93b",
}
NAMES = tuple(_LIGHT)
DEFAULTS: Theme = {
    **_LIGHT,
    **{f"dark-{name}": value for name, value in _DARK.items()},
    "radius": "8px",
    "font": "system",
}

_GROUNDS = ("bg", "surface", "surface-2")
_STATES = ("success", "warning", "danger", "info")
# A state's own tint on the surface, as the console mixes it for badges and notices.
SOFT = "@soft"
PAIRS: tuple[tuple[str, str, float], ...] = (
    *((name, ground, TEXT) for name in ("text", "text-muted", "accent-text") for ground in _GROUNDS),
    ("accent-text", "accent-soft", TEXT),
    ("on-accent", "accent", TEXT),
    ("on-danger", "danger", TEXT),
    ("nav-text", "nav-bg", TEXT),
    ("nav-active-text", "nav-active", TEXT),
    *((state, ground, TEXT) for state in _STATES for ground in _GROUNDS),
    *((state, state + SOFT, TEXT) for state in _STATES),
    *(("border-strong", ground, INTERFACE) for ground in ("bg", "surface")),
    *(("focus", ground, INTERFACE) for ground in ("bg", "surface", "nav-bg")),
    *(("accent", ground, INTERFACE) for ground in ("bg", "surface")),
    *((f"chart-{number}", "surface", INTERFACE) for number in range(1, 7)),
)

# The same as JSON schema, for clients that generate their forms.
SCHEMA: dict[str, object] = {
    "properties": {
        **{mode + name: {"type": "string", "pattern": "^#[0-9a-fA-F]{6}$"} for mode in MODES for name in NAMES},
        "radius": {"type": "string", "pattern": "^([0-9]|1[0-6])px$"},
        "font": {"enum": list(FONTS)},
    },
    "additionalProperties": False,
}
