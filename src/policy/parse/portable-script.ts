// Checks that all shells read a script in the same way. Another shell may run what bash treats as quoted text.

/** Syntax of bash only: `$'…'`, quotes inside `${}`, double brackets, arrays, extra redirects, keywords. */
const bashOnly =
  /\$['"]|\$\{[^}]*['"\\]|\[\[|\(\(|[<>]\(|&>|>&\s*[^\d\s-]|\|&|<<<|=\(|\$\[|;;?&|[?*+@!]\(|(^|[\s;&|(])(function|coproc|select|time)\s/;

/** Characters that zsh, fish and csh read alike; they differ even where the syntax looks the same. */
const plainest = /^[\w\s.,:@%+/;|&"'-]*$/;

export function readsAlike(source: string, shell: string): boolean {
  if (/^(bash|rbash|eval|trap)$/.test(shell)) return true;
  // Ignore arithmetic expansion, which is the same in all shells.
  const text = source.replaceAll("$((", "$( ");
  return /^(zsh|fish|csh|tcsh|xonsh|nu)$/.test(shell) ? plainest.test(text) : !bashOnly.test(text);
}
