"""A terminal that breaks lines anew when its window changes, for programs that draw on one.

terminal.py WIDTHS DRAWN COMMAND...: runs the command on a terminal of the first width. Each time that something was drawn DRAWN
times, the window gets the next width; after the last one the command gets SIGINT. Prints what was drawn wrongly, and
then what is on the screen at the end. Every line that is drawn over begins with one of `drawn_over`.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

drawn_over = re.compile(r"step \d|evaluation: |\d+ of \d+ runs done")


class Screen:
    """Lines of any length; the window decides in how many rows each is shown, as in terminals that keep lines together."""

    def __init__(self, width):
        self.width, self.lines, self.line, self.column = width, [""], 0, 0

    def rows(self, line):
        return max(1, -(-len(self.lines[line]) // self.width))

    def row_of_cursor(self):
        at_end = self.column == len(self.lines[self.line])
        return max(0, self.column - at_end) // self.width

    def up(self, count):
        row = self.row_of_cursor()
        for _ in range(count):
            if row > 0:
                row -= 1
            elif self.line > 0:
                self.line -= 1
                row = self.rows(self.line) - 1
        self.column = row * self.width

    def feed(self, text):
        for part in re.findall(r"\x1b\[[\d;]*[A-Za-z]|.", text, re.S):
            if part.startswith("\x1b"):
                number, letter = part[2:-1], part[-1]
                if letter == "A":
                    self.up(int(number or 1))
                elif letter == "J":
                    self.lines[self.line] = self.lines[self.line][: self.column]
                    del self.lines[self.line + 1 :]
                elif letter != "m":
                    sys.exit(f"the screen does not know {part!r}")
            elif part == "\r":
                self.column = self.row_of_cursor() * self.width
            elif part == "\n":
                self.line += 1
                self.column = 0
                if self.line == len(self.lines):
                    self.lines.append("")
            else:
                line = self.lines[self.line]
                self.lines[self.line] = line[: self.column] + part + line[self.column + 1 :]
                self.column += 1


def main(widths, each, command):
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm"
        time.sleep(0.2)
        os.write(1, b"before\n")
        os.execvp(command[0], command)
    resize = lambda width: fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    resize(widths[0])
    screen, drawn, place = Screen(widths[0]), 0, 0
    while True:
        if not select.select([terminal], [], [], 60)[0]:
            os.kill(child, signal.SIGKILL)
            sys.exit("nothing was drawn for a minute")
        try:
            bytes_ = os.read(terminal, 65536)
        except OSError:
            break
        screen.feed(bytes_.decode(errors="replace"))
        shown = [line for line in screen.lines if drawn_over.match(line)]
        drawn += len(shown) > 0
        if len(shown) > 1:
            print(f"{len(shown)} lines at once with {screen.width} columns: {shown}")
        if drawn < each or place == len(widths):  # the first may have been drawn before the window changed
            continue
        if len(shown[-1]) > screen.width:
            print(f"wider than {screen.width} columns: {shown[-1]}")
        if place < len(widths):
            drawn, place = 0, place + 1
            if place == len(widths):
                os.kill(child, signal.SIGINT)
            else:
                screen.width = widths[place]
                resize(screen.width)
    print("\n".join(line.rstrip() for line in screen.lines).rstrip("\n"))
    os.waitpid(child, 0)


main([int(width) for width in sys.argv[1].split(",")], int(sys.argv[2]), sys.argv[3:])
