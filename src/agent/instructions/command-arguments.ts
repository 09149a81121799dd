// `$ARGUMENTS`, `$1`, `$2`, … in the text of a command or a skill: what was typed after its name.

/** One pass, so that an argument that looks like a variable stays what it is. */
export function withArguments(body: string, rest: string): string {
  const words = wordsOf(rest);
  // Without a $1, a "$5" in the text is a price.
  const isNumbered = /\$1(?!\w)/.test(body);
  const variable = /\$(ARGUMENTS|[1-9])(?!\w)/g;
  if (isNumbered || /\$ARGUMENTS(?!\w)/.test(body)) {
    return body.replace(variable, (all, name: string) => {
      if (name === "ARGUMENTS") return rest;
      return isNumbered ? (words[Number(name) - 1] ?? "") : all;
    });
  }
  return rest === "" ? body : `${body}\n\n${rest}`;
}

/** Split at blanks; quotes hold words together. */
function wordsOf(text: string): string[] {
  return (text.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^(["'])(.*)\1$/s, "$2"));
}
