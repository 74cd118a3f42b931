#!/bin/sh
# Builds the page and runs the unit tests with the Node.js 18 that Debian 12 ships, unpacked into a
# temporary folder, whichever Node.js this machine uses.
#
#   node18.sh SOURCE WORK     WORK holds node_modules, as `build.sh install` leaves it
#
# Exit status: 0 passed, 77 skipped because the packages cannot be had.
set -eu

source=$(realpath "$1")
work=$(realpath "$2")
private=$(mktemp -d)
trap 'rm -rf "$private"' EXIT

skip() {
    echo "skipped: $1"
    exit 77
}

command -v apt-get >/dev/null || skip "no apt-get: this is not a Debian system"
version=$(apt-cache madison nodejs | awk '$3 ~ /^18\./ { print $3; exit }')
[ -n "$version" ] || skip "apt knows no nodejs 18; 'apt-get update' may help"

mkdir "$private/packages" "$private/root"
chmod 755 "$private" "$private/packages" # apt downloads as another user
(cd "$private/packages" && apt-get download -q "nodejs=$version" "libnode108=$version" \
    libuv1 libc-ares2 libnghttp2-14 libicu72 libbrotli1 zlib1g libssl3 \
    node-acorn node-cjs-module-lexer node-undici) >"$private/log" 2>&1 ||
    skip "apt-get cannot download nodejs $version: $(tail -n 1 "$private/log")"
for package in "$private"/packages/*.deb; do
    dpkg -x "$package" "$private/root"
done

# Debian's Node.js reads parts of itself from /usr/share/nodejs: show it the private one.
unshare --map-root-user --mount true 2>"$private/log" ||
    skip "cannot make a mount namespace: $(tail -n 1 "$private/log")"
triplet=$(uname -m)-linux-gnu
mkdir "$private/bin"
cat >"$private/bin/node" <<EOF
#!/bin/sh
export LD_LIBRARY_PATH=$private/root/usr/lib/$triplet:$private/root/lib/$triplet
exec $private/root/usr/bin/node "\$@"
EOF
chmod +x "$private/bin/node"

mkdir "$private/work"
ln -s "$work/node_modules" "$work/package.json" "$private/work/"
export PATH="$private/bin:$PATH" source private
unshare --map-root-user --mount sh -eu -c '
    mount --bind "$private/root/usr/share" /usr/share
    echo "node $(node --version)"
    "$source/build.sh" page "$source" "$private/work" "$private/page.html"
    "$source/build.sh" vitest "$source" "$private/work"
'
