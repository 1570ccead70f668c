"""What is sent to a model of a text, piece by piece, and how its reply becomes the same text again."""
