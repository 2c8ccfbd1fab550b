def of(name, prepared, draw, settings):
    return []
