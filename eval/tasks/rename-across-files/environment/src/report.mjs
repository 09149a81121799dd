import { fetchUser, fetchUserAgent } from "./user.mjs";

export function report(ids) {
  const lines = ids.map((id) => fetchUser(id).name);
  return `${fetchUserAgent()}: ${lines.join(", ")}`;
}
