// The access token: passed once in the URL fragment, kept in this tab's session storage, and sent only as a header.
const name = "courser.token";

/** Takes the token from the URL and removes it there; otherwise returns the one this tab has stored. */
export function takeToken(): string | undefined {
  const addressToken = /^#token=([\w-]{20,})$/.exec(location.hash)?.[1];
  if (addressToken !== undefined) {
    sessionStorage.setItem(name, addressToken);
    history.replaceState(null, "", location.pathname + location.search);
  }
  return addressToken ?? sessionStorage.getItem(name) ?? undefined;
}

export function forgetToken(): void {
  sessionStorage.removeItem(name);
}
