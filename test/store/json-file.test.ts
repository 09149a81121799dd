import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { UserError } from "../../src/protocol/error-codes.ts";
import { readJson, saveJson } from "../../src/store/json-file.ts";
import { saveTogether } from "../policy/save-scenario.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "courser-json-"));
  file = join(folder, "config.json");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function read(content: string | Buffer): unknown {
  writeFileSync(file, content);
  return readJson(file);
}

function failure(content: string | Buffer): { code: string; message: string } {
  writeFileSync(file, content);
  try {
    readJson(file);
  } catch (error) {
    expect(error).toBeInstanceOf(UserError);
    // Not toEqual: it looks at every byte of a megabyte for itself.
    expect(readFileSync(file).equals(Buffer.from(content as string))).toBe(true);
    return error as UserError;
  }
  throw new Error("nothing was thrown");
}

describe("readJson", () => {
  it("readJson distinguishes a missing file from an empty one", () => {
    expect(readJson(file)).toBeUndefined();
    expect(readJson(join(folder, "a/b.json"))).toBeUndefined();
    expect(failure("").code).toBe("CONFIG_INVALID");
  });

  it.each([
    ["plain", '{"a":[1,-2.5e3,true,null,"x\\n\\u00e9"]}'],
    ["byte order mark", '\ufeff{"a":[1,-2.5e3,true,null,"x\\n\\u00e9"]}'],
    ["comments", '// one\n{ /* two */ "a": [1, -2.5e3, true, // three\n null, "x\\n\\u00e9"] } // four'],
    ["trailing commas", '{"a":[1,-2.5e3,true,null,"x\\n\\u00e9",],}'],
    ["CR LF", '{\r\n"a":[1,-2.5e3,true,null,"x\\n\\u00e9"]\r\n}\r\n'],
  ])("readJson accepts %s", (_, text) => {
    expect(read(text)).toEqual({ a: [1, -2500, true, null, "x\né"] });
  });

  it("readJson keeps comment-like text in a string", () => {
    expect(read('{"a":"// no","b":"/* no */",}')).toEqual({ a: "// no", b: "/* no */" });
  });

  it.each([
    ['{"a":1,"a":2}', 1, 8],
    ['{"x":{"deny":[1],\n "\\u0064eny":[]}}', 2, 2],
    ['{"a":[{"b":1,"b":1}]}', 1, 14],
    ['{"__proto__":1,"__proto__":2}', 1, 16],
  ])("readJson refuses duplicate keys: %s", (text, line, column) => {
    expect(failure(text)).toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(`line ${line}, column ${column}: the key`),
    });
  });

  it.each([
    ['{\n  "a": [1, 2\n}', 3, 1],
    ['{"a":"open', 1, 6],
    ["{'a':1}", 1, 2],
    ['{"a":1} x', 1, 9],
    ['{"a":01}', 1, 6],
    ['{"a":NaN}', 1, 6],
    ['{"a":"\\x"}', 1, 7],
    ["{/* open", 1, 2],
    ["[]", 1, 1],
    ["null", 1, 1],
    ['{"a":,}', 1, 6],
    ["{,}", 1, 2],
  ])("readJson names the place of the error in %j", (text, line, column) => {
    const error = failure(text);
    expect(error.code).toBe("CONFIG_INVALID");
    expect(error.message).toContain(`${file} is not valid: line ${line}, column ${column}:`);
  });

  it("a JSON file's key __proto__ is read as plain data", () => {
    for (const text of ['{"__proto__":{"evil":1}}', '{"__proto__":{"evil":1},}']) {
      const value = read(text) as Record<string, unknown>;
      expect(Object.keys(value)).toEqual(["__proto__"]);
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      expect(value["evil"]).toBeUndefined();
    }
  });

  it("readJson refuses other encodings, excessive depth and size", () => {
    expect(failure(Buffer.from('{"a":1}', "utf16le")).code).toBe("CONFIG_INVALID");
    expect(failure(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])).message).toContain(
      "line 1, column 3: this is not UTF-8",
    );
    expect(failure(`{"a":${"[".repeat(5000)}${"]".repeat(5000)}}`).code).toBe("CONFIG_INVALID");
    expect(failure(`{"a":${"[".repeat(400_000)}`).code).toBe("CONFIG_INVALID");
    expect(failure(`{"a":"${"x".repeat(1024 * 1024)}"}`).code).toBe("CONFIG_TOO_LARGE");
    expect(read(`{"a":"${"\\\\".repeat(400_000)}"}`)).toBeTypeOf("object");
  });

  it("readJson does not take an unreadable file for a missing one", () => {
    const code = () => {
      try {
        readJson(file);
      } catch (error) {
        return (error as UserError).code;
      }
      return "nothing";
    };
    writeFileSync(file, "{}");
    for (const mode of [0o200, 0o044]) {
      chmodSync(file, mode);
      expect(code()).toBe("CONFIG_UNREADABLE");
    }
    rmSync(file);
    mkdirSync(file);
    expect(code()).toBe("CONFIG_UNREADABLE");
    rmSync(file, { recursive: true });
    symlinkSync("nowhere.json", file);
    expect(code()).toBe("CONFIG_UNREADABLE");
    rmSync(file);
    symlinkSync("config.json", file);
    expect(code()).toBe("CONFIG_UNREADABLE");
  });

  it("readJson finds duplicate keys at little cost", () => {
    const entries = Object.fromEntries(
      Array.from({ length: 150 }, (_, index) => [`setting-number-${index}`, { on: true, name: 'a "name"' }]),
    );
    const text = JSON.stringify(entries, null, 2);
    writeFileSync(file, text);
    const time = (work: () => unknown) => {
      const started = performance.now();
      for (let round = 0; round < 200; round++) work();
      return performance.now() - started;
    };
    const best = (work: () => unknown) => Math.min(time(work), time(work), time(work));
    time(() => readJson(file));
    const plain = best(() => JSON.parse(readFileSync(file, "utf8")));
    // Generous: a second, slow parser would be ten times the plain one.
    expect(best(() => readJson(file))).toBeLessThan(plain * 6);
  });
});

describe("saveJson", () => {
  it("saving a JSON file keeps unknown fields, order and mode, and leaves nothing behind", () => {
    writeFileSync(file, '{"later":{"a":1},"model":"x","__proto__":{"b":2}}');
    chmodSync(file, 0o640);
    saveJson(file, (current) => ({ ...current, model: "y" }));
    expect(readFileSync(file, "utf8")).toBe(
      '{\n  "later": {\n    "a": 1\n  },\n  "model": "y",\n  "__proto__": {\n    "b": 2\n  }\n}\n',
    );
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(readdirSync(folder)).toEqual(["config.json"]);
  });

  it("saving a JSON file creates new files and folders privately", () => {
    const deep = join(folder, "new/folder/auth.json");
    saveJson(deep, () => ({ a: 1 }));
    expect(statSync(deep).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, "new/folder")).mode & 0o777).toBe(0o700);
  });

  it("saving never overwrites a broken JSON file, nor writes an unchanged one", () => {
    writeFileSync(file, '{"deny":[');
    expect(() => saveJson(file, () => ({}))).toThrow(UserError);
    expect(readFileSync(file, "utf8")).toBe('{"deny":[');
    expect(readdirSync(folder)).toEqual(["config.json"]);
    writeFileSync(file, '{"a":1}');
    saveJson(file, () => undefined);
    expect(readFileSync(file, "utf8")).toBe('{"a":1}');
  });

  it("saving a JSON file behind a link changes its target and keeps the link", () => {
    writeFileSync(join(folder, "real.json"), "{}");
    symlinkSync("real.json", file);
    saveJson(file, () => ({ a: 1 }));
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(readJson(join(folder, "real.json"))).toEqual({ a: 1 });
  });

  it.each([
    ["a process that is gone", "2147483646 1.1", 0],
    ["an age nobody needs", `${process.pid} 1.1`, 60],
    ["a holder that wrote nothing", "", 60],
  ])("saving a JSON file takes over a lock left by %s", (_, content, ageSeconds) => {
    writeFileSync(`${file}.lock`, content);
    const then = Date.now() / 1000 - ageSeconds;
    utimesSync(`${file}.lock`, then, then);
    saveJson(file, () => ({ a: 1 }));
    expect(readJson(file)).toEqual({ a: 1 });
    expect(readdirSync(folder)).toEqual(["config.json"]);
  });

  it("acknowledged saves of a JSON file survive killed processes", async () => {
    const result = await saveTogether({ folder, processes: 3, rounds: 100, killing: true });
    expect(result).toEqual({ alwaysValid: true, nothingLost: true });
  }, 60_000);
});
