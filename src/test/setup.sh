#!/bin/sh
# Installs the programs that the integration tests start. Does nothing when all of them are there.
# On Debian and Ubuntu it installs packages as root or with sudo. Elsewhere it fails with one message
# that names every missing program and how to install it.
set -eu
exec </dev/null # An installer that asks a question gets end-of-file instead of waiting.

node_needed=20 # The MCP conformance suite and the Inspector need it.

has() { command -v "$1" >/dev/null 2>&1; }

has_node() {
  major=$(node --version 2>/dev/null | sed 's/^v\([0-9]*\).*/\1/') || major=
  [ "${major:-0}" -ge "$node_needed" ] && has npm
}

# Chromium.java looks for the same.
has_browser() {
  has chromium || has chromium-browser || has google-chrome || has google-chrome-stable ||
    [ -x "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" ]
}

# Not required: without it, the tests use the Redis that the build brings along.
has_redis() { has redis-server; }

# Not required: without them, NetworkFaultsIT is skipped. Other systems than Linux have none.
has_namespaces() { [ "$(uname)" != Linux ] || { has ip && has nft; }; }

# Checks the alert rules.
has_prometheus() { has prometheus && has promtool; }

# Succeeds when packages can be installed without asking for a password.
may_install() { has apt-get && { [ "$(id -u)" -eq 0 ] || { has sudo && sudo -n true 2>/dev/null; }; }; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi
}

# Takes the program out of the package, because the package would also start a server.
install_prometheus() {
  echo "setup: installing prometheus and promtool"
  directory=$(mktemp -d)
  (
    cd "$directory" && apt-get download -qq -o APT::Sandbox::User=root prometheus &&
      dpkg-deb -x prometheus_*.deb . &&
      as_root install -m 755 usr/bin/prometheus usr/bin/promtool /usr/local/bin/
  )
  result=$?
  rm -rf "$directory"
  return $result
}

install_packages() {
  as_root apt-get update -qq || return
  has_prometheus || install_prometheus || return
  packages=
  has_node || packages="nodejs npm"
  has_redis || packages="$packages redis-server"
  has_namespaces || packages="$packages iproute2 nftables"
  has curl || packages="$packages curl"
  if ! has_browser; then
    # Ubuntu has the other name.
    if apt-cache show chromium >/dev/null 2>&1; then browser=chromium; else browser=chromium-browser; fi
    packages="$packages $browser"
  fi
  [ -n "$packages" ] || return 0
  echo "setup: installing $packages"
  # shellcheck disable=SC2086 # One word per package.
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -qq -y -o Dpkg::Use-Pty=0 --no-install-recommends $packages || return
  hash -r
  # Debian 12 has Node 18.
  if ! has_node; then
    echo "setup: installing Node 22 with npm"
    as_root npm install --global --no-fund --no-audit --loglevel=error node@22 || return
    hash -r
  fi
}

if has_node && has_browser && has_redis && has_namespaces && has_prometheus && has curl; then
  exit 0
fi
if may_install; then
  install_packages || echo "setup: the installation failed" >&2
fi

missing=
has_node || missing="$missing
  Node.js $node_needed or newer, with npm"
has_browser || missing="$missing
  Chromium or Google Chrome"
has_prometheus || missing="$missing
  Prometheus, with its promtool"
has curl || missing="$missing
  curl"
if [ -n "$missing" ]; then
  cat >&2 <<MESSAGE
setup: the integration tests need programs that are not installed:$missing
Install them and run the build again:
  macOS   brew install node prometheus && brew install --cask google-chrome
  Fedora  sudo dnf install nodejs npm chromium golang-github-prometheus curl
  Debian  sudo apt-get install nodejs npm chromium prometheus curl && sudo npm install --global node@22
To build without these tests: ./mvnw verify -DskipITs
MESSAGE
  exit 1
fi
