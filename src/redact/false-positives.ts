// Recognises values in the place of a secret that are not secrets: placeholders, types, variables, sentences.

const words = new Set(
  "null none nil undefined true false yes no on off string str text number int integer bool boolean any unknown object bytes optional required redacted hidden masked secret pass password passwd pwd passphrase token bearer basic empty missing invalid valid expired incorrect wrong changed set unset default example placeholder changeme todo tbd n/a stdin prompt file env".split(
    " ",
  ),
);

const signs =
  /^(?:\.{2,}|…|x{3,}|\*{2,}.*|-{2,}|_{2,}|•+|your[-_ ].*|(?:<|&lt;).*|\[[^\]]*\]?|\{+[^}]*\}*|\$\{.*|\$\(.*|\$[A-Za-z_]\w*|%[sdv]|%\(.*|%[A-Z_]+%|:[a-z_]+|\?|@[\w./-]+)$/is;

export function isPlaceholder(value: string): boolean {
  if (value.length > 200) return false;
  const trimmed = value.trim();
  return words.has(trimmed.toLowerCase()) || signs.test(trimmed) || trimmed.includes("${");
}

const sources =
  /^(?:process\.env|os\.environ|import\.meta|env|ENV|self|this|config|settings|secrets|vars|args|opts|options|ctx|req|request|response|data|props|state)[.[?]/;

/** Recognises variables, members and module paths: they refer to a value but are not the value. */
export function isCode(value: string, quote: string): boolean {
  if (value.length > 200) return false;
  if (sources.test(value)) return true;
  if (quote.endsWith("`")) return /\s/.test(value); // the value is a command
  if (quote !== "") return false;
  if (/^[~.]{0,2}\/[A-Za-z_./-]+$/.test(value)) return true; // the value is a path
  // the value is the name of a constant
  if (/^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/.test(value) || /^0x[0-9a-f]{1,8}$/i.test(value)) return true;
  if (/^[A-Za-z_$][\w$]*(?:(?:\??\.|::|->)[A-Za-z_$][\w$]*)+[!?]?$/.test(value)) return !/\d{2}/.test(value);
  const isIdentifier = /^_?[a-z]+(?:[A-Z][a-z]+)+$|^_?[a-z]+(?:_[a-z]+)+$/.test(value);
  return isIdentifier && /pass|pwd|secret|token|key|auth|cred/i.test(value);
}

/** Recognises the text between two JSON strings: commas, brackets, numbers. */
export function isBetweenTexts(value: string): boolean {
  return /^\s*[,:}\]][\s,:{}[\]\d.a-z-]*$/.test(value);
}

/** Returns whether a value is a sentence of several words. */
export function isSentence(value: string): boolean {
  return /\s/.test(value) && /^[\p{L}\s.,:;!?'"()-]*$/u.test(value);
}
