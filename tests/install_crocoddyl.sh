#!/bin/sh
# Crocoddyl in an environment of its own, in the folder given: 3.2.1 wants pin 4.0.0, and the tests want a newer one.
# Without wheels or a network it says so and leaves; the tests that miss it skip with that reason.
set -eu

folder="$1"
python="$2"
packages="crocoddyl==3.2.1 pin==4.0.0"
if "$folder/bin/python" -c "import crocoddyl, forearm" >/dev/null 2>&1; then
    exit 0
fi
# shellcheck disable=SC2086  (one word per package)
if "$python" -m uv venv --quiet --clear --python "$python" "$folder" >/dev/null 2>&1 &&
    "$python" -m uv pip install --quiet --python "$folder/bin/python" $packages -e . >/dev/null 2>&1; then
    echo "install_crocoddyl: installed $packages"
else
    rm -rf "$folder"
    echo "install_crocoddyl: could not install $packages; tests that need them skip"
fi
