"""Files: those that ship with the program, those that are arriving, archives of them."""
