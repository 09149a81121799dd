// Enters the terminal and waits for keys: z suspends, a shows the alternate screen, x throws, t sets a title, q leaves.
import { openTty } from "../../src/terminal/tty.ts";

export async function main(): Promise<number> {
  const tty = openTty({
    input: process.stdin,
    output: process.stdout,
    env: process.env,
    onSuspend: () => process.stdout.write("suspends\r\n"),
    onResume: () => process.stdout.write("resumed\r\n"),
  });
  tty.enter();
  process.stdout.write(`entered ${process.pid}\r\n`);
  await new Promise<void>((resolve) => {
    process.stdin.on("data", (chunk) => {
      const key = chunk.toString();
      if (key === "a") tty.alternate(true);
      if (key === "t") tty.setTitle("mine\u001b]2;evil\u0007");
      process.stdout.write(`key ${JSON.stringify(key)}\r\n`);
      if (key === "x")
        setImmediate(() => {
          throw new Error("thrown");
        });
      if (key === "e") process.exit(3);
      if (key === "z") tty.suspend();
      if (key === "q") resolve();
    });
  });
  tty.leave();
  process.stdin.unref();
  process.stdout.write("left\n");
  return 0;
}
