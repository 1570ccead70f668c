"""Sample notes that show what notes are for."""

SAMPLES = (
    (
        "Welcome to your team's notes",
        "Everything here is Markdown.\n\n- **Private** notes are yours until you share them.\n- **Team** notes are everyone's.\n\n"
        "Press `?` to see the keys, or `Ctrl K` to go anywhere.\n",
    ),
    (
        "Weekly meeting",
        "## This week\n\n| Who | What | Until |\n|---|---|---|\n| Ada | Sign-up texts | Tuesday |\n| Grace | Price list | Friday |\n\n"
        "## Decided\n\n1. We ship on Thursdays.\n2. The price list stays one page.\n",
    ),
    (
        "How we answer customers",
        "> Answer the question first, explain after.\n\n1. Say what happens next and when.\n2. Link to the page that helps.\n"
        "3. If it was our mistake, say so in the first sentence.\n",
    ),
)
