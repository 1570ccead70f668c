"""How hypothesis runs here: no deadline per example, because a busy machine is not a defect."""

from hypothesis import settings

settings.register_profile("atrium", deadline=None, max_examples=60)
settings.load_profile("atrium")
