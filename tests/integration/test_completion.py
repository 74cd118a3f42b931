"""Help, manual pages and completion agree with the parser: it accepts each option that they name, and
all name the same options and values. The bash script runs in a real bash."""

import os
import re
import shutil

from harness import BUILD_ROOT, TOOL, Skip, check, check_equal, need, run, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import record_well

MADE = BUILD_ROOT / "cli"
OPTION = re.compile(r"(?<![\w-])(--?[a-z][a-z-]*)")


def verbs():
    overview = run_well([TOOL]).stdout.partition("Examples:")[0]
    names = re.findall(r"^  uctrace ([a-z-]+)", overview, re.MULTILINE)
    return [name for name in names if name != "help"]


def options_of_help(verb):
    """Each option with the values that it may have."""
    text = run_well([TOOL, "help", verb]).stdout
    check_equal(run_well([TOOL, verb, "--help"]).stdout, text, f"--help of {verb}")
    found = {}
    for line in text.partition("Options:")[2].partition("\nExamples:")[0].splitlines():
        match = re.match(r"  (-[\w-]+)(?:, (--[\w-]+))?(?: (\S+))?", line)
        if match:
            for name in filter(None, match.groups()[:2]):
                found[name] = match[3] or ""
    return found


def parser_takes(verb, options):
    for name, value in options.items():
        if name in ("-h", "--help"):
            continue
        # build-ucx would really build: an invalid source stops it.
        source = ["/nonexistent"] if verb == "build-ucx" else []
        arguments = [*source, name] + (["/nonexistent" if "|" not in value else value.split("|")[0]] if value else [])
        said = run([TOOL, verb, *arguments]).stderr
        check("no such option" not in said, f"{verb} {name}: {said}")
    said = run([TOOL, verb, "--no-such-option-at-all"]).stderr
    check("has no such option" in said, f"{verb}: {said}")


def page_has(verb, options):
    page = (MADE / f"uctrace-{verb}.1").read_text().replace("\\-", "-")
    section = re.search(r"\.SH OPTIONS\n(.*?)\n\.SH ", page, re.DOTALL)[1]
    terms = [line for line in section.splitlines() if line.startswith("\\fB-")]
    named = {name for line in terms for name in re.findall(r"\\fB(-[\w-]+)\\fR", line)}
    check_equal(named, set(options), f"options in the page of {verb}")
    for name, value in options.items():
        shown = [line for line in terms if f"\\fB{name}\\fR" in line]
        check(shown and shown[0].endswith(f"\\fI{value}\\fR" if value else "\\fR"),
              f"the value {value} of {name} in the page of {verb}: {shown}")


def pages_are_well_formed():
    for page in sorted(MADE.glob("*.1")):
        if shutil.which("man"):
            rendered = run_well(["man", "--warnings", "-l", page], env={"MANPAGER": "cat"})
            check_equal(rendered.stderr, "", f"warnings about {page.name}")
        if shutil.which("mandoc"):
            lint = run(["mandoc", "-T", "lint", "-W", "warning", page]).stdout
            bad = [line for line in lint.splitlines() if "missing date" not in line]
            check_equal(bad, [], f"mandoc about {page.name}")


def bash_completes(words, cwd):
    """bash's completions for these words."""
    script = f"""
source {MADE / 'uctrace'}
[[ $(complete -p uctrace) == 'complete -F _uctrace uctrace' ]] || exit 3
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
_uctrace
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    result = run_well([need("bash"), "--norc", "-c", script, "bash", *words], cwd=cwd)
    check_equal(result.stderr, "", f"bash about {words}")
    return [line for line in result.stdout.splitlines() if line]


def bash_script_works(all_options):
    with scratch() as folder:
        (folder / "a run").mkdir()
        (folder / "file.txt").touch()

        def offered(*words):
            return bash_completes(["uctrace", *words], folder)

        expected = sorted([*all_options, "help", "version"])
        check_equal(sorted(w for w in offered("") if w[0] != "-"), expected, "verbs")
        check_equal(offered("rec"), ["record"], "a begun verb")
        check_equal(sorted(offered("help", "")), sorted(all_options), "verbs behind help")
        for verb, options in all_options.items():
            check_equal(sorted(offered(verb, "-")), sorted(options), f"options of {verb}")
            for name, value in options.items():
                if "|" in value:
                    choices = sorted(value.split("|"))
                    check_equal(sorted(offered(verb, name, "")), choices, f"{verb} {name}")
                    # Bash makes three words of --by=a.
                    check_equal(sorted(offered(verb, name, "=", "")), choices, f"{verb} {name}=")
                    check_equal(sorted(offered(verb, name, "=")), choices, f"{verb} {name}=")
        check_equal(offered("report", ""), ["a run"], "folders for a reading verb")
        check_equal(offered("record", "-o", "a"), ["a run"], "folders for -o")
        check("file.txt" in offered("view", "-o", ""), "files for view -o")
        check("bash" in offered("record", "--", "bas"), "programs behind --")
        check_equal(offered("report", "--limit", ""), [], "a number")


VALUES = {"--src": ["0", "1"], "--protocol": None, "--transport": None, "--op": None, "--comm": None,
          "--mpi": None, "--rank": ["0", "1"], "--host": None}


def told_values(data, option):
    key = {"--rank": "src", "--host": None}.get(option, option[2:])
    if key in ("transport", "op"):
        return {hop[key] for m in data.messages for hop in m["path"]}
    return {str(m[key]) for m in data.messages if m.get(key) is not None} if key else set()


def zsh_completes(words, cwd):
    """zsh's completions from the script's function for values."""
    body = (MADE / "_uctrace").read_text().rpartition("_uctrace \"$@\"")[0]
    script = body + """
compadd() { shift; print -l -- "$@" }
_sequence() { "$@" }
words=(ARGS); CURRENT=$#words; _uctrace_program=$words[1]
_uctrace_values OPTION
"""
    option = words[-2][2:]
    quoted = " ".join(f"'{word}'" for word in words)
    script = script.replace("ARGS", quoted).replace("OPTION", option)
    result = run_well(["zsh", "-f", "-c", script], cwd=cwd)
    check_equal(result.stderr, "", f"zsh about {words}")
    return [line for line in result.stdout.splitlines() if line]


def fish_completes(words, cwd):
    line = " ".join(f"'{word}'" if word else "" for word in words)
    script = f"source {MADE / 'uctrace.fish'}; complete -C \"{line}\""
    result = run_well(["fish", "--no-config", "-c", script], cwd=cwd,
                      env={"PATH": f"{BUILD_ROOT}:{os.environ['PATH']}"})
    return [line.partition("\t")[0] for line in result.stdout.splitlines() if line]


def values_of_the_run_are_offered():
    with scratch() as folder:
        _, data = record_well(folder / "data", MPIS["mpich"].job("exchange", folder / "truth"))
        check(data.info, "the run is merged")
        for option, expected in VALUES.items():
            offered = bash_completes([TOOL, "report", data.folder, option, ""], folder)
            if expected:
                check_equal(sorted(offered), expected, option)
            told = told_values(data, option)
            plain = [value.replace("\\", "") for value in offered]
            check(offered and told <= set(plain), f"{option}: {offered} without {told - set(plain)}")
            if shutil.which("zsh"):
                check_equal(zsh_completes([TOOL, "report", data.folder, option, ""], folder), plain,
                            f"zsh: {option}")
            if shutil.which("fish"):
                check_equal(sorted(fish_completes(["uctrace", "report", data.folder, option, ""], folder)),
                            sorted(plain), f"fish: {option}")
        check_equal(bash_completes([TOOL, "report", data.folder, "--src", "0,"], folder), ["0,0", "0,1"],
                    "behind a comma")
        check_equal(bash_completes([TOOL, "report", "--src", ""], folder), [], "no run")
        check_equal(bash_completes([TOOL, "report", folder, "--src", ""], folder), [], "no run in a folder")


def other_scripts_name_the_same(all_options):
    zsh = (MADE / "_uctrace").read_text()
    fish = (MADE / "uctrace.fish").read_text()
    for verb, options in all_options.items():
        block = re.search(rf"^    {verb}\)\n(.*?)^      ;;", zsh, re.MULTILINE | re.DOTALL)[1]
        named = set()
        for line in block.splitlines():
            head = re.match(r"\s+'(?:\([^)]*\)'\{([^}]*)\}|([^'=\[]*))", line)
            if head and (head[1] or (head[2] or "").startswith("-")):
                named |= set((head[1] or head[2]).split(","))
        check_equal(named, set(options), f"options of {verb} in the zsh script")
        named = set()
        for line in re.findall(rf"^complete -c uctrace -n '__uctrace_verb {verb}' (.*)", fish, re.MULTILINE):
            flags = line.partition(" -d '")[0]
            named |= {"--" + n for n in re.findall(r"-l (\S+)", flags)}
            named |= {"-" + n for n in re.findall(r"-s (\S)", flags)}
        check_equal(named, set(options), f"options of {verb} in the fish script")
        for name, value in options.items():
            if "|" in value:
                words = value.replace("|", " ")
                check(f"({words})" in block, f"{verb} {name}: {words} in the zsh script")
                check(f"'{words}'" in fish, f"{verb} {name}: {words} in the fish script")


def shells_parse_them():
    run_well([need("bash"), "-n", MADE / "uctrace"])
    missing = [shell for shell in ("zsh", "fish") if shutil.which(shell) is None]
    for shell, script in (("zsh", "_uctrace"), ("fish", "uctrace.fish")):
        if shell not in missing:
            run_well([shell, "-n", MADE / script])
    if missing:
        raise Skip(f"all but the syntax checks passed; not installed: {', '.join(missing)}")


def manual_is_the_parsers():
    check(MADE.joinpath("uctrace.1").exists(), f"no manual pages in {MADE}")
    all_options = {verb: options_of_help(verb) for verb in verbs()}
    pages = {p.name[len("uctrace-") : -2] for p in MADE.glob("uctrace-*.1")}
    check_equal(pages, set(all_options), "verbs with a page")
    for verb, options in all_options.items():
        check(len(options) >= 2, f"no options found in the help of {verb}: {options}")
        parser_takes(verb, options)
        page_has(verb, options)
    pages_are_well_formed()
    bash_script_works(all_options)
    other_scripts_name_the_same(all_options)
    values_of_the_run_are_offered()
    shells_parse_them()


run_test(manual_is_the_parsers)
