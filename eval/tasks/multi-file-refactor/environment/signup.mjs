export function signUp(address) {
  if (!/^[^@\s]+@[^@\s]+$/.test(address)) throw new Error("not an address");
  return `signUp:${address}`;
}
