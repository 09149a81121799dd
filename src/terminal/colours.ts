// Determines which colours to use: what the terminal can show, and whether its background is light or dark.

/** Colour depth in bits. `none` is a terminal without escape sequences; 0 means that the user wants no colours. */
export type ColourDepth = "none" | 0 | 4 | 8 | 24;

type Environment = Readonly<Record<string, string | undefined>>;

export function colourDepth(env: Environment): ColourDepth {
  const { TERM = "", COLORTERM = "", NO_COLOR, FORCE_COLOR } = env;
  if (TERM === "dumb" || TERM === "") return "none";
  if (NO_COLOR !== undefined && NO_COLOR !== "") return 0;
  if (FORCE_COLOR === "0") return 0;
  if (/^(truecolor|24bit)$/i.test(COLORTERM) || /-direct$|^xterm-(kitty|ghostty)$|^(alacritty|foot|wezterm)/.test(TERM))
    return 24;
  return /256/.test(TERM) ? 8 : 4;
}

/** Returns undefined if unknown. Some terminals set `COLORFGBG` to "foreground;background", as numbers of the 16 colours. */
export function isDarkBackground({ COLORFGBG }: Environment): boolean | undefined {
  const background = /;(\d{1,2})$/.exec(COLORFGBG ?? "")?.[1];
  if (background === undefined) return undefined;
  const number = Number(background);
  return number <= 6 || number === 8;
}

/** Parses the terminal's reply to `backgroundQuery`: true for a dark background. */
export function darknessOf(reply: string): boolean | undefined {
  const found = /\]11;rgba?:([0-9a-f]{1,4})\/([0-9a-f]{1,4})\/([0-9a-f]{1,4})/i.exec(reply);
  if (!found) return undefined;
  const [red, green, blue] = found.slice(1, 4).map((part) => Number.parseInt(part, 16) / (16 ** part.length - 1)) as [
    number,
    number,
    number,
  ];
  return 0.299 * red + 0.587 * green + 0.114 * blue < 0.5;
}

/** Diffs and the user's messages get a background only with 24-bit colours, where it can be a subtle shade. */
const shades = {
  light: {
    soft: foregroundCode("6a6963"),
    accent: foregroundCode("2f5fd0"),
    good: foregroundCode("1f7a46"),
    bad: foregroundCode("b3261e"),
    warn: foregroundCode("8a5a00"),
    message: back("ededea"),
    added: back("e3f4e8"),
    removed: back("fbe6e4"),
    addedWord: back("bfe6cb"),
    removedWord: back("f3c2bd"),
    keyword: foregroundCode("7a3e9d"),
    string: foregroundCode("1f7a46"),
    number: foregroundCode("8a5a00"),
    comment: foregroundCode("6a6963"),
    type: foregroundCode("1c6d86"),
  },
  dark: {
    soft: foregroundCode("9a9a94"),
    accent: foregroundCode("8ab0ff"),
    good: foregroundCode("6fcf97"),
    bad: foregroundCode("ff8a80"),
    warn: foregroundCode("e3b341"),
    message: back("2c2f35"),
    added: back("16301f"),
    removed: back("3a1d1c"),
    addedWord: back("24573a"),
    removedWord: back("6d2f2b"),
    keyword: foregroundCode("c8a2f0"),
    string: foregroundCode("8fd0a8"),
    number: foregroundCode("e3b341"),
    comment: foregroundCode("9a9a94"),
    type: foregroundCode("86c8dc"),
  },
};

type Shades = typeof shades.light;

const ofTheTerminal: Shades = {
  soft: "2",
  accent: "34",
  good: "32",
  bad: "31",
  warn: "33",
  message: "1",
  added: "32",
  removed: "31",
  addedWord: "1;32",
  removedWord: "1;31",
  keyword: "35",
  string: "32",
  number: "33",
  comment: "2",
  type: "36",
};

/** The high-contrast theme: no dim text; important text is bold or reversed. */
const contrast: Shades = {
  ...ofTheTerminal,
  soft: "",
  accent: "1;94",
  good: "1;32",
  bad: "1;31",
  warn: "1;33",
  message: "7",
  addedWord: "1;7;32",
  removedWord: "1;7;31",
  comment: "",
};

const withoutColour: Shades = {
  ...(Object.fromEntries(Object.keys(ofTheTerminal).map((name) => [name, ""])) as Shades),
  soft: "2",
  message: "1",
  comment: "2",
  addedWord: "1",
  removedWord: "1",
};

const attributes = { plain: "", bold: "1", italic: "3", underline: "4", struck: "9", reverse: "7" };

/** The colour theme; `auto` chooses it by the terminal's background. */
export type Theme = "auto" | "dark" | "light" | "contrast";

export function themeOf(setting: unknown): Theme {
  return setting === "dark" || setting === "light" || setting === "contrast" ? setting : "auto";
}

/** Returns the SGR code of each colour; an empty string means no colour. `reported` is true for a dark background. */
export function colourCodes(
  depth: ColourDepth,
  reported: boolean | undefined,
  theme: Theme = "auto",
): Shades & typeof attributes {
  const dark = theme === "auto" ? reported : theme === "dark";
  if (depth === "none") {
    const all = { ...withoutColour, ...attributes };
    return Object.fromEntries(Object.keys(all).map((name) => [name, ""])) as typeof all;
  }
  if (depth === 0) return { ...withoutColour, ...attributes };
  if (theme === "contrast") return { ...contrast, ...attributes };
  if (depth === 24 && dark !== undefined) return { ...(dark ? shades.dark : shades.light), ...attributes };
  // Dark blue is unreadable on black; bright blue is readable on either.
  return { ...ofTheTerminal, ...(dark !== false && { accent: "94" }), ...attributes };
}

function foregroundCode(hex: string): string {
  return `38;2;${rgb(hex)}`;
}

function back(hex: string): string {
  return `48;2;${rgb(hex)}`;
}

function rgb(hex: string): string {
  return [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)).join(";");
}
