"""`python -m shortlist` is the command."""

from shortlist.cli import main

if __name__ == "__main__":
    main()
