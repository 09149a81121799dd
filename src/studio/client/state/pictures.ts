// Pictures for a prompt: pasted, dropped or chosen, and sent as data.
import { showMessage } from "./layout.ts";

export type Picture = { name: string; mime: string; base64: string };

const kinds = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const most = 5;
const maxBytes = 4 * 1024 * 1024;

/** Adds the files that can be sent to the existing pictures, and reports those that cannot. */
export async function takePictures(files: Iterable<File>, there: readonly Picture[]): Promise<readonly Picture[]> {
  const all = [...there];
  for (const file of files) {
    if (!kinds.includes(file.type))
      showMessage(`${file.name}: only PNG, JPEG, GIF and WebP pictures can be sent`, { isError: true });
    else if (file.size > maxBytes) showMessage(`${file.name} is larger than 4 MB`, { isError: true });
    else if (all.length >= most) showMessage(`A message can have ${most} pictures`, { isError: true });
    else all.push({ name: file.name || "picture", mime: file.type, base64: await base64Of(file) });
  }
  return all;
}

function base64Of(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^data:[^,]*,/, ""));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
