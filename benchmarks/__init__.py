"""Side by side with peers: the same data, agreement first, ratios after."""
