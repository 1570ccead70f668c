"""Work of this process: who gets the next place, in which thread or process it runs, how long it may take."""
