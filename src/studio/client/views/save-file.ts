// Downloads a file from the service with fetch, since a link could not carry the token.
import { openHttp } from "../state/app.ts";
import { attempt } from "../state/layout.ts";

/** Downloads a file. `name` is used if the service gives none. */
export async function save(address: string, name: string): Promise<void> {
  await attempt(async () => {
    const response = await openHttp().open(address, {}, new AbortController().signal);
    const fileName = /filename="([\w.-]+)"/.exec(response.headers.get("Content-Disposition") ?? "")?.[1];
    const url = URL.createObjectURL(await response.blob());
    Object.assign(document.createElement("a"), { href: url, download: fileName ?? name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  });
}
