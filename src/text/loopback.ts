// Recognises host names of this machine. Has no imports, because both start-up and the network code need it.

/** Returns whether a host name, as in a URL, means this machine. An IPv6 address may have brackets. */
export function isLoopback(hostname: string): boolean {
  const host = hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "");
  return host === "localhost" || host.endsWith(".localhost") || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}
