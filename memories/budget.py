"""How much one run of a job may still do."""


class Budget:
    """What is left of a run's provider calls and written rows.

    A job spends as it works and stops at the next whole unit of work once nothing is left; a
    unit that has begun is finished, so that a small overdraft is possible and harmless.
    """

    def __init__(self, calls: int, rows: int) -> None:
        self.calls = calls
        self.rows = rows

    def spend(self, calls: int = 0, rows: int = 0) -> None:
        """Counts provider calls made and rows written."""
        self.calls -= calls
        self.rows -= rows

    @property
    def left(self) -> bool:
        """Whether another unit of work may begin."""
        return self.calls > 0 and self.rows > 0
