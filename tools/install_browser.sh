#!/usr/bin/env bash
# Installs Chromium from Debian's packages for the tests of the report, unless there is a browser.
set -euo pipefail
for program in chromium chromium-browser google-chrome chrome; do
    if command -v "$program" >/dev/null; then
        exit 0
    fi
done
if ! command -v apt-get >/dev/null; then
    echo "No Chromium, and no apt-get to install it; install one, or set SCORESIEVE_BROWSER." >&2
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive
run=()
if [[ "$(id -u)" != 0 ]]; then
    run=(sudo)
fi
"${run[@]}" apt-get update -qq
"${run[@]}" apt-get install -y -qq --no-install-recommends chromium
