"""Two servers on one database whose model says what a test tells it to."""

from tests.support.spoken_house import alice, company, elsewhere, houses, speaker, spoken_house

__all__ = ["alice", "company", "elsewhere", "houses", "speaker", "spoken_house"]
