// The token of the service: handed over behind `#` once, kept by this tab alone, sent as a header and nowhere else.
const name = "courser.token";

/** Takes it from the address, which is left without it; else what this tab was told before. */
export function takeToken(): string | undefined {
  const given = /^#token=([\w-]{20,})$/.exec(location.hash)?.[1];
  if (given !== undefined) {
    sessionStorage.setItem(name, given);
    history.replaceState(null, "", location.pathname + location.search);
  }
  return given ?? sessionStorage.getItem(name) ?? undefined;
}

export function forgetToken(): void {
  sessionStorage.removeItem(name);
}
