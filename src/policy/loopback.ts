// Which host names are this machine. A file of its own, without imports: start-up needs it, and so does the network.

/** `hostname`: as a URL gives it, an address of version 6 in brackets or not. */
export function isLoopback(hostname: string): boolean {
  const host = hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "");
  return host === "localhost" || host.endsWith(".localhost") || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}
