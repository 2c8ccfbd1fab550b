def check_invariants(master):
    return []
