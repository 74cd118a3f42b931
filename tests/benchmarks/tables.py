"""The rows of a run as tables, for the terminal and for documents. Both are made from the JSON of a
run, so a table can be made again."""

TITLES = {
    "floor": "What this machine charges",
    "messages": "One message, layer by layer",
    "scaling": "What one message costs each of several threads",
    "gaps": "The worst that a caller waits",
    "cg": "The example solver",
    "bandwidth": "Bandwidth",
    "log": "The log on disk",
    "start-up": "Start-up",
    "end": "The end of a process",
    "memory": "Memory",
    "saturated": "Without a pause",
    "merge": "Merging",
    "page": "The page",
    "tiles": "Pages with tiles",
}
HEADS = ["what", "with", "statistic", "bare", "recorded", "added", "ratio", "spread", "dropped",
         "target"]
RIGHT_FROM = 3  # the columns of numbers


def number(value):
    if value is None:
        return "-"
    magnitude = abs(value)
    if magnitude >= 1000:
        return f"{value:,.0f}"
    text = f"{value:.{0 if magnitude >= 100 else 1 if magnitude >= 2 else 2}f}"
    return "0" if float(text) == 0 else text


def share(value):
    if value is None:
        return "-"
    return "0" if value == 0 else f"{100 * value:.2g} %"


def verdict(row):
    """Met or not, and by how much."""
    texts = []
    for target in row["targets"]:
        if "met" not in target:
            continue
        limit = f"{target['limit']:.2f}x" if target["of"] == "ratio" else number(target["limit"])
        by = abs(target["by"])
        # The spread of a ratio is given as time: relative to the bare one.
        scale = row["bare"] if target["of"] == "ratio" else 1
        unsure = row["spread"] is not None and by * scale < row["spread"]
        way = "under" if target["by"] <= 0 else "over"
        size = f"{100 * by:.1f} %" if target["of"] == "ratio" else number(by)
        texts.append(f"<= {limit}: {'met' if target['met'] else 'NOT met'}, {size} {way}"
                     + (", less than the spread" if unsure else ""))
    return "; ".join(texts) or "-"


def cells(row):
    unit = f", {row['unit']}" if row["unit"] else ""
    return [
        row["quantity"] + unit,
        row["level"],
        row["statistic"],
        number(row["bare"]),
        number(row["value"]),
        number(row["added"]),
        "-" if row["ratio"] is None else f"{row['ratio']:.2f}",
        "-" if row["spread"] is None else f"± {number(row['spread'])}",
        share(row["dropped_share"]),
        verdict(row),
    ]


def sections(rows):
    """(title of the group, [(subject, its rows)]), in the order of the run."""
    groups = {}
    for row in rows:
        groups.setdefault(row["group"], {}).setdefault(row["subject"], []).append(row)
    for group, subjects in groups.items():
        yield TITLES.get(group, group), list(subjects.items())


# --- one message: a line for each level, so that they can be compared ----------------------------

TIME, INSTRUCTIONS, OTHERS = "thread CPU of one", "instructions of one", "CPU of other threads"
BY_LEVEL = ["with", "ns, min", "added", "ns, median", "added ", "spread", "floor", "clock readings",
            "bytes stored", "events", "instructions", "helper, ns", "dropped"]


def line_of_level(level, rows):
    """`rows` by quantity and whether it is a minimum."""
    found = {(row["quantity"], row["statistic"] == "min"): row for row in rows}

    def part(quantity, name, is_min=False, text=number):
        row = found.get((quantity, is_min))
        return "-" if row is None else text(row[name])

    spread = part(TIME, "spread")
    return [
        level, part(TIME, "value", True), part(TIME, "added", True), part(TIME, "value"),
        part(TIME, "added"), spread if spread == "-" else f"± {spread}", part("floor", "value"),
        part("clock readings", "value"), part("bytes stored", "value"), part("events", "value"),
        part(INSTRUCTIONS, "added"), part(OTHERS, "added"), part(TIME, "dropped_share", True, share),
    ]


def levels_table(rows):
    """The lines of one subject, and its target in words. None: not such a subject."""
    timed = [row for row in rows if row["quantity"] == TIME]
    if not timed:
        return None
    bare = [next((r for r in timed if (r["statistic"] == "min") == least), {}) for least in (True, False)]
    table = [BY_LEVEL, ["bare", number(bare[0].get("bare")), "-", number(bare[1].get("bare")),
                        *["-"] * (len(BY_LEVEL) - 4)]]
    for level in dict.fromkeys(row["level"] for row in timed):
        table.append(line_of_level(level, [row for row in rows if row["level"] == level]))
    words = []
    for row in rows:
        text = verdict(row)
        if row["quantity"] != TIME and row["quantity"].startswith("added by"):
            spread = "" if row["spread"] is None else f" ± {number(row['spread'])}"
            words.append(f"{row['quantity']}, {row['statistic']}: {number(row['added'])}{spread} ns"
                         + ("" if text == "-" else f" ({text})"))
        elif text != "-":
            words.append(f"{row['level']}, {row['statistic']}: added {number(row['added'])} ns ({text})")
    return table, words


# --- lines ---------------------------------------------------------------------------------------


def used_columns(table, texts):
    """The columns with any content; the first `texts` are always included."""
    return [i for i in range(len(table[0])) if i < texts or any(line[i] != "-" for line in table[1:])]


def in_columns(table, texts, verdicts=False):
    """`texts` columns of words come first, and one comes last if `verdicts`; the rest are numbers."""
    used = used_columns(table, texts)
    right = range(texts, len(table[0]) - verdicts)
    widths = {i: max(len(line[i]) for line in table) for i in used}
    for line in table:
        cells_of_line = [
            line[i].rjust(widths[i]) if i in right else line[i].ljust(widths[i]) for i in used
        ]
        yield "  ".join(cells_of_line).rstrip()


def in_markdown(table, texts, verdicts=False):
    used = used_columns(table, texts)
    right = range(texts, len(table[0]) - verdicts)
    head, *body = ["| " + " | ".join(line[i].strip() for i in used) + " |" for line in table]
    return [head, "|" + "|".join("--:" if i in right else "---" for i in used) + "|", *body]


def lines_of(rows, layout):
    """The tables of one subject; `layout` is in_columns or in_markdown."""
    if (by_level := levels_table(rows)) is not None:
        table, words = by_level
        return [*layout(table, 1), "", *(f"* {word}" for word in words)]
    return [*layout([HEADS, *map(cells, rows)], RIGHT_FROM, True)]


def about_run(run):
    """Where, when and how, in lines."""
    machine, load = run["machine"], run["load"]
    yield f"{run['date']}, uctrace {run['uctrace']}, {machine['system']}, Linux {machine['kernel']}"
    yield (
        f"{machine['cores']} cores of {machine['cpu']}, clock {machine['clock']}, logs on "
        f"{machine['file_system']}"
    )
    yield f"load average {load['before']:.1f} before, {load['after']:.1f} after"
    yield f"command: {run['command']} ({run['rounds']} rounds, {run['seconds']:.0f} s)"


def counts_of_targets(rows):
    """A target is met if both its minimum and its median are."""
    judged = judged_targets(rows).values()
    met = sum(all(target["met"] for _, target in of_one) for of_one in judged)
    return f"{met} of {len(judged)} targets met"


def as_text(run):
    lines = list(about_run(run))
    for title, subjects in sections(run["rows"]):
        lines += ["", f"== {title}"]
        for subject, rows in subjects:
            lines += ["", subject, *lines_of(rows, in_columns)]
    lines += ["", counts_of_targets(run["rows"]), *(f"note: {note}" for note in run["notes"])]
    return "\n".join(lines)


TARGET_HEADS = ["target", "with", "at most", "min", "median", "by", "verdict"]


def judged_targets(rows):
    """{target: [(row, what was found)]}: a target has a minimum and a median, or one of them."""
    found = {}
    for row in rows:
        for target in row["targets"]:
            if "met" in target:
                key = (row["subject"], row["level"], row["quantity"], target["why"])
                found.setdefault(key, []).append((row, target))
    return found


def targets_table(rows):
    return [TARGET_HEADS, *(target_line(*item) for item in judged_targets(rows).items())]


def target_line(key, judged):
    subject, level, quantity, why = key
    row, target = judged[0]
    is_ratio = target["of"] == "ratio"
    unit = "" if is_ratio else f" {row['unit']}"
    text = (lambda value: f"{value:.2f}x") if is_ratio else number
    least = [text(t["found"]) for r, t in judged if r["statistic"] == "min"]
    others = [text(t["found"]) for r, t in judged if r["statistic"] != "min"]
    met = [t["met"] for _, t in judged]
    mixed = "as min only" if judged[0][1]["met"] else "as median only"
    verdict_of_all = "met" if all(met) else mixed if any(met) else "**not met**"
    by = ", ".join(f"{100 * t['by_share']:+.0f} %" for _, t in judged)
    about = f"{subject}: {quantity}" + ("" if why in quantity else f" ({why})")
    return [about, level, text(target["limit"]) + unit, *(least or ["-"]), *(others or ["-"]), by,
            verdict_of_all]


def as_markdown(run):
    lines = [*(f"* {line}" for line in about_run(run)), *(f"* {note}" for note in run["notes"]), ""]
    lines += [f"{counts_of_targets(run['rows'])}:", "", *in_markdown(targets_table(run["rows"]), 2, True)]
    for title, subjects in sections(run["rows"]):
        lines += ["", f"### {title}"]
        for subject, rows in subjects:
            lines += ["", f"**{subject}**", "", *lines_of(rows, in_markdown)]
    return "\n".join(lines)
