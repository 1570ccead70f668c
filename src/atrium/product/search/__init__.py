"""Search: find the notes, objects and documents that one may read. Owns tables `search_rows`, `search_words`, `search_backlog`,
`search_moved`.

A *row* is what the index keeps of one thing, a *word* is folded to lower case without accents, a *triple* is three letters of a title.
"""
