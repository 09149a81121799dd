// Puts chunks that are loaded together into one file each: opening sixty files takes longer than running what is in them.

/**
 * `code`: the text of each chunk as CommonJS, by name. `packs`: the names of the files and the modules that they begin with;
 * a pack gets what its modules import statically and no pack before it has. What is left stays a file of its own. A pack of
 * `{ modules, sharedWith }` gets only what the other modules import as well.
 * A chunk in a pack is required as `./pack.cjs#chunk.cjs`, which `src/cli/boot.ts` understands.
 */
export function packChunks(metafile, code, packs) {
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [nameOf(path), output]));
  const allOf = (modules) => {
    const found = new Set();
    for (const module of [modules].flat())
      closureOf([...outputs].find(([, { entryPoint }]) => entryPoint === module)[0], outputs, found);
    return found;
  };
  const placeOf = new Map();
  for (const [pack, content] of Object.entries(packs)) {
    const others = content.sharedWith && allOf(content.sharedWith);
    for (const name of allOf(content.modules ?? content))
      if (!placeOf.has(name) && (others?.has(name) ?? true)) placeOf.set(name, pack);
  }
  const files = new Map(Object.keys(packs).map((pack) => [pack, []]));
  for (const [name, text] of code) {
    const linked = text.replace(/require\("\.\/([^"]+\.cjs)"\)/g, (whole, wanted) =>
      placeOf.has(wanted) ? `require("./${placeOf.get(wanted)}#${wanted}")` : whole,
    );
    const pack = placeOf.get(name);
    if (pack) files.get(pack).push(`${JSON.stringify(name)}:${wrapped(linked)}`);
    else files.set(name, wrapped(linked));
  }
  return [...files].map(([name, text]) => [name, Array.isArray(text) ? `({${text.join(",\n")}})` : `(${text})`]);
}

function wrapped(text) {
  return `function(exports,require,module,__filename,__dirname,__fileUrl){${text}\n}`;
}

function closureOf(entry, outputs, found = new Set()) {
  if (found.has(entry)) return found;
  found.add(entry);
  for (const { path, kind } of outputs.get(entry)?.imports ?? [])
    if (kind === "import-statement") closureOf(nameOf(path), outputs, found);
  return found;
}

function nameOf(path) {
  return path.replace(/^.*\//, "").replace(/\.js$/, ".cjs");
}
