// Scripts that every shell reads in the same way. What bash takes for quoted text, another shell may run.

/** Bash's own: quotes with a dollar, quotes inside of braces, double brackets, lists of words, other redirects, keywords. */
const bashOnly =
  /\$['"]|\$\{[^}]*['"\\]|\[\[|\(\(|[<>]\(|&>|>&\s*[^\d\s-]|\|&|<<<|=\(|\$\[|;;?&|[?*+@!]\(|(^|[\s;&|(])(function|coproc|select|time)\s/;

/** Zsh, fish and csh have rules of their own even for what looks alike. */
const plainest = /^[\w\s.,:@%+/;|&"'-]*$/;

export function readsAlike(source: string, shell: string): boolean {
  if (/^(bash|rbash|eval|trap)$/.test(shell)) return true;
  // An arithmetic expansion is the same everywhere.
  const text = source.replaceAll("$((", "$( ");
  return /^(zsh|fish|csh|tcsh|xonsh|nu)$/.test(shell) ? plainest.test(text) : !bashOnly.test(text);
}
