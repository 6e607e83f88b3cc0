#!/bin/sh
# What checks the page's JavaScript: a formatter, a type checker, a linter, in the folder given (npm, where it is).
# Without npm, or without a network, it says so and leaves; the tests that miss them skip with that reason.
set -eu

folder="$1"
packages="prettier@3.6.2 typescript@5.9.3 eslint@9.39.0 @eslint/js@9.39.0"
if [ -x "$folder/node_modules/.bin/tsc" ] && [ -x "$folder/node_modules/.bin/eslint" ]; then
    exit 0
fi
if ! command -v npm >/dev/null 2>&1; then
    echo "install_node_packages: no npm here; install nodejs and npm if you want the JavaScript checked"
    exit 0
fi
mkdir -p "$folder"
# shellcheck disable=SC2086  (one word per package)
if npm install --prefix "$folder" --no-audit --no-fund --silent $packages >/dev/null 2>&1; then
    echo "install_node_packages: installed $packages"
else
    echo "install_node_packages: could not install $packages; tests that need them skip"
fi
