// Reads the examples of a Markdown page: fenced blocks with their marks, the commands in them, links, headings.

export type Block = {
  file: string;
  /** Of the opening fence, counted from 1. */
  line: number;
  language: string;
  /** What follows the language on the fence: the name of the file that the block shows. */
  name: string;
  text: string;
  /** The HTML comment right before the block. */
  mark: string;
  /** The block that stands right before this one, with nothing but blank lines between. */
  after: Block | undefined;
};

export function readBlocks(file: string, page: string): Block[] {
  const lines = page.split("\n");
  const blocks: Block[] = [];
  let before: Block | undefined;
  let mark = "";
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index]!;
    const fence = /^(`{3,})(\S*) ?(.*)$/.exec(line);
    if (fence) {
      const end = lines.findIndex((each, at) => at > index && each === fence[1]);
      if (end < 0) throw new Error(`${file}:${index + 1}: the block has no end`);
      const block: Block = {
        file,
        line: index + 1,
        language: fence[2]!,
        name: fence[3]!.trim(),
        text: lines.slice(index + 1, end).join("\n"),
        mark,
        after: before,
      };
      blocks.push(block);
      before = block;
      mark = "";
      index = end;
    } else if (line.trim() !== "") {
      mark = /^<!-- (.+) -->$/.exec(line)?.[1] ?? "";
      before = undefined;
    }
  }
  return blocks;
}

/** The page without its fenced blocks, line for line. */
export function prose(page: string): string[] {
  let fence = "";
  return page.split("\n").map((line) => {
    const mark = /^`{3,}/.exec(line)?.[0];
    if (!fence && mark) {
      fence = mark;
      return "";
    }
    if (fence && line === fence) {
      fence = "";
      return "";
    }
    return fence ? "" : line;
  });
}

/** One entry a command line: continued lines joined, comments and empty lines left out. */
export function commandsOf(block: Block): string[] {
  return block.text
    .replace(/\\\n\s*/g, " ")
    .split("\n")
    .map((line) => line.replace(/(^|\s)# .*$/, "").trim())
    .filter((line) => line !== "");
}

export function callsCourser(command: string): boolean {
  return /(^|[|;&(]\s*)(npx )?(courser|cursor-agent|agent)( |;|$)/.test(command);
}

/** `npm ci`, `npm test` and `npm run NAME`: the script, or undefined. */
export function npmScript(command: string): string | undefined {
  const [, name, script] = /^npm (?:run (?:--silent )?([\w:-]+)|(ci|test))\b/.exec(command) ?? [];
  return name ?? script;
}

export type Link = { target: string; line: number };

export function linksOf(page: string): Link[] {
  return prose(page).flatMap((text, index) =>
    [...text.replace(/`[^`]*`/g, "code").matchAll(/\]\(([^)\s]+)\)/g)].map((match) => ({
      target: match[1]!,
      line: index + 1,
    })),
  );
}

/** Anchors as GitHub makes them from headings. */
export function anchorsOf(page: string): string[] {
  return prose(page)
    .map((line) => /^#{1,6} (.+)$/.exec(line)?.[1])
    .filter((heading) => heading !== undefined)
    .map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    );
}

/** What stands between backticks outside of blocks. A doubled pair may hold single ones. */
export function codeSpans(page: string): { text: string; line: number }[] {
  return prose(page).flatMap((text, index) =>
    [...text.matchAll(/(`+)(.+?)\1(?!`)/g)].map((match) => ({
      text: match[2]!.trim().replaceAll("\\|", "|"),
      line: index + 1,
    })),
  );
}

/** What differs between runs, made the same: ids, times, the scratch folders. */
export function normalise(output: string, places: Record<string, string>): string {
  let text = output;
  for (const [path, name] of Object.entries(places)) text = text.replaceAll(path, name);
  return text
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}(-\d+-\w+)?/g, "ID")
    .replace(/("(?:duration_ms|duration_api_ms|timestamp_ms|startedAtMs|completedAtMs)":)"?\d+"?/g, "$10")
    .replace(/\b\d{4}\.\d\d\.\d\d-[0-9a-f]{7}\b/g, "VERSION")
    .trimEnd();
}

/** Whether the output is as shown. `…` in what is shown stands for anything within a line; alone on a line, for any lines. */
export function isAsShown(output: string, shown: string): boolean {
  const pattern = shown
    .trimEnd()
    .split("\n")
    .map((line) => (line.trim() === "…" ? "[^]*?" : line.split("…").map(escapePattern).join(".*")))
    .join("\n");
  return new RegExp(`^${pattern}$`).test(output);
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
