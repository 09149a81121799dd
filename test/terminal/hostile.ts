// Forty things that foreign text must not do to a terminal.

export const hostile: readonly string[] = [
  "\x1b[2J", // clears the screen
  "\x1b[3J", // and the scrollback
  "\x1b[H", // goes to the corner
  "\x1b[10A",
  "\x1b[5;5H",
  "\x1b[1;5r", // a scroll region
  "\x1b[S",
  "\x1b[T",
  "\x1b[L",
  "\x1b[M",
  "\x1bM",
  "\x1bc", // starts the terminal anew
  "\x1b[!p",
  "\x1b[?1049h", // the alternate screen
  "\x1b[?1000h\x1b[?1006h", // the mouse
  "\x1b[?25l",
  "\x1b[?7l",
  "\x1b[?2004l",
  "\x1b[?2026h", // a frame that never ends
  "\x1b[>1u",
  "\x1b[>4;2m",
  "\x1b]0;evil title\x07",
  "\x1b]2;evil title\x1b\\",
  "\x1b]52;c;ZXZpbA==\x07", // writes the clipboard
  "\x1b]8;;https://evil.example\x07click\x1b]8;;\x07",
  "\x1b]11;?\x07", // asks, and the answer is typed
  "\x1b]10;#000000\x07",
  "\x1b[c",
  "\x1b[6n",
  "\x1b[5n",
  '\x1bP$q"p\x1b\\',
  "\x1bP+q544e\x1b\\",
  "\x1b_Gf=24;AAAA\x1b\\", // a picture
  "\x1b^private\x1b\\",
  "\x9b2J\x9d0;evil title\x9c",
  "\x0e\x0f\x1b(0", // another character set
  "\x07\x08\x08\x08\x7f",
  "safe\rfake  ",
  "\u202etxet desrever\u202c \u2066x\u2069 \u200b\u200f\ufeff",
  "\x1b[8mhidden\x1b[0m\x1b[5mblinks\x1b[0m",
];
