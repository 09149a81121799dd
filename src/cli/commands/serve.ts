// `serve`: placeholder
import type { Invocation } from "../main.ts";
export async function serve(_invocation: Invocation): Promise<number> {
  return 0;
}
