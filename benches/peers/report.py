def text(records, sets, argv):
    return "\n".join(str(r)[:300] for r in records.kept)
