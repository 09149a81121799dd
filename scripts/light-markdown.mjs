// Of marked, the page reads tokens only: without the instance that it makes when it is loaded, its parsers and renderers fall away.
import { readFileSync } from "node:fs";

export const lightMarkdown = {
  name: "light-markdown",
  setup(build) {
    build.onLoad({ filter: /marked[\\/]lib[\\/]marked\.esm\.js$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      const named = (name) => new RegExp(`[{,]([\\w$]+) as ${name}[,}]`).exec(text)?.[1];
      const [lexer, tokenizer, marked] = ["Lexer", "Tokenizer", "Marked"].map(named);
      const end = text.search(new RegExp(`var [\\w$]+=new ${marked?.replaceAll("$", "\\$")};`));
      if (!lexer || !tokenizer || end < 0)
        throw new Error("marked is built otherwise than it was: look at its end again.");
      const contents = `${text.slice(0, end)}export{${tokenizer} as Tokenizer};export const lexer=${lexer}.lex;`;
      return { contents, loader: "js" };
    });
  },
};
