"""`python -m forearm` is the command line."""

from forearm.cli import main

main()
