"""`python -m celadon`."""

from celadon.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
