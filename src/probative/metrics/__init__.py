"""Arrays to numbers: every metric of the contract, and the registry that describes them."""
