"""Sample notes and documents that show what they are for."""

NOTES = (
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
DOCUMENTS = (
    (
        "Offer",
        "# Offer\n\nDear Ms Lovelace,\n\nthank you for your question. We offer:\n\n| What | Each | Together |\n|---|---:|---:|\n"
        "| 3 days of consulting | 900 | 2,700 |\n| 1 workshop | 1,200 | 1,200 |\n| **Total** | | **3,900** |\n\n"
        "The offer holds for 30 days.\n",
    ),
    (
        "Handbook for new colleagues",
        "# Handbook for new colleagues\n\n## First day\n\n- [ ] Change your password and turn on two-factor sign-in\n- [ ] Say hello in a"
        " note of your own\n\n## Where things are\n\nFiles are in **Files**; documents such as this one keep every version.\n",
    ),
)
