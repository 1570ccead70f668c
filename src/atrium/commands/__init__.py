"""Each command of `atrium` that looks, changes or moves something and ends; serving and working are the boot's."""
