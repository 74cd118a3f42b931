#!/bin/sh
# Builds and tests the page in a copy of this folder, so that the sources stay clean.
#
#   build.sh install SOURCE WORK STAMP      npm ci, then touch STAMP
#   build.sh page    SOURCE WORK PAGE       type-check and bundle into PAGE
#   build.sh vitest  SOURCE WORK            the unit tests
#   build.sh browser SOURCE WORK PAGE       the test in Chromium, or in the browser that UCTRACE_BROWSER names, with
#                                           the template PAGE
set -eu

step=$1
source=$(realpath "$2")
work=$(realpath -m "$3")
file=${4:+$(realpath -m "$4")}

copy_sources() {
    rm -rf "$work/src" "$work/tests"
    cp -R "$source/src" "$source/tests" "$source/page.html" "$source/vite.config.ts" \
        "$source/tsconfig.json" "$work/"
}

mkdir -p "$work"
case $step in
install)
    cp "$source/package.json" "$source/package-lock.json" "$source/.npmrc" "$work/"
    cd "$work"
    npm ci --no-audit --no-fund --prefer-offline --ignore-scripts
    touch "$file"
    ;;
page)
    copy_sources
    cd "$work"
    node node_modules/typescript/bin/tsc --noEmit
    node node_modules/vite/bin/vite.js build --logLevel warn
    cp dist/page.html "$file"
    ;;
vitest)
    copy_sources
    # Which the tests of the command line read as well.
    cp "$source/../tests/filter-cases/cases.json" "$work/tests/filter_cases.json"
    # Names of the rules of findings, a line each.
    sed -n 's/.*\.rule = "\([a-z-]*\)".*/\1/p' "$source"/../log-merger/findings/*.cpp >"$work/tests/finding_rules.txt"
    cd "$work"
    exec node node_modules/vitest/vitest.mjs run
    ;;
browser)
    copy_sources
    cd "$work"
    exec node tests/page.mjs --template "$file"
    ;;
*)
    echo "build.sh: there is no step '$step'; the steps are install, page, vitest and browser" >&2
    exit 2
    ;;
esac
