"""What is said about functions that have no scalar form."""


class NotScalar(ValueError):  # noqa: N818
    """A function uses something that cannot be written as a list of scalar operations."""
