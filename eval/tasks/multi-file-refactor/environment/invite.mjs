export function invite(address) {
  if (!/^[^@\s]+@[^@\s]+$/.test(address)) throw new Error("not an address");
  return `invite:${address}`;
}
