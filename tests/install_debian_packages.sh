#!/bin/sh
# What `make test-more` needs besides Python: a browser and TeX. Debian and Ubuntu, as root; elsewhere it says so
# and leaves, and the tests that miss something skip with that reason. Does nothing where all is there.
set -eu

missing=""
command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 ||
    missing="$missing chromium"
command -v pdflatex >/dev/null 2>&1 || missing="$missing texlive-latex-base"
command -v cc >/dev/null 2>&1 || missing="$missing gcc libc6-dev"

if [ -z "$missing" ]; then
    exit 0
fi
if ! command -v apt-get >/dev/null 2>&1; then
    echo "install_debian_packages: no apt-get here; install by hand if you want those tests:$missing"
    exit 0
fi
if [ "$(id -u)" -ne 0 ]; then
    echo "install_debian_packages: not root; run 'sudo sh $0' if you want those tests:$missing"
    exit 0
fi
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086  (one word per package)
if apt-get update -qq >/dev/null 2>&1 && apt-get install -y -qq --no-install-recommends $missing >/dev/null 2>&1; then
    echo "install_debian_packages: installed$missing"
else
    echo "install_debian_packages: could not install$missing; tests that need them skip"
fi
