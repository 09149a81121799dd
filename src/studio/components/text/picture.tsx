// Renders pictures of known types as data URLs. Nothing is fetched.
import type { Picture } from "../timeline/blocks.ts";

const kinds = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

export function Pictures({ pictures }: { pictures: readonly Picture[] }) {
  return pictures.map(({ mime, base64 }, index) =>
    kinds.has(mime) && /^[A-Za-z0-9+/]+={0,2}$/.test(base64) ? (
      <img key={index} class="cr-picture" src={`data:${mime};base64,${base64}`} alt="" />
    ) : (
      <p key={index} class="cr-note">
        A picture that cannot be shown.
      </p>
    ),
  );
}
