// Full-text search over every chat: words and their beginnings, phrases in quotes. No text is a syntax error.
import { join } from "node:path";
import type { Database, SqlRow } from "../sqlite.ts";
import type { ChatMetadata } from "./chat.ts";
import { chatsDir } from "./layout.ts";
import { type IndexWatch, withIndex } from "./search-index.ts";
import { isWord, type SearchTerm, termsIn } from "./search-terms.ts";
import { snippetOf } from "./snippet.ts";

export type ChatHit = {
  metadata: ChatMetadata;
  /** The place where most of the words stand, on one line. */
  snippet: string;
};

export type SearchOptions = IndexWatch & { limit?: number };

/** The best first. All words must be in a chat, in its title or anywhere in its text. */
export function searchChats(configDir: string, text: string, { limit = 50, ...watch }: SearchOptions = {}): ChatHit[] {
  const terms = termsIn(text);
  if (text.trim() === "") return [];
  return withIndex(configDir, watch, (database) => {
    const words = terms.filter(isWord);
    const rows = words.length > 0 ? byWords(database, words, limit) : byLetters(database, text.trim(), limit);
    const wanted = words.length > 0 ? words.map((word) => word.text) : [text.trim()];
    return rows.map(({ place, facts, body }) => ({
      metadata: {
        ...(JSON.parse(String(facts)) as ChatMetadata),
        folder: join(chatsDir(configDir), ...String(place).split("/")),
      },
      snippet: snippetOf(String(body), wanted),
    }));
  });
}

/** `foo_bar` is to the index the phrase of its parts, so it is found whole. The last part may be a beginning. */
function queryOf(terms: readonly SearchTerm[]): string {
  return terms.map(({ text, isPhrase }) => `"${text.replaceAll('"', '""')}"${isPhrase ? "" : "*"}`).join(" ");
}

/** How much a word counts in the title, in the text, at the end of a name. */
const weights = "bm25(8.0, 1.0, 0.5)";

function byWords(database: Database, terms: readonly SearchTerm[], limit: number): SqlRow[] {
  return database
    .prepare(
      `SELECT place, facts, body FROM (
         SELECT rowid AS row, rank AS distance FROM texts WHERE texts MATCH ? AND rank MATCH '${weights}' ORDER BY rank LIMIT ?
       ) JOIN chats USING (row) JOIN texts ON texts.rowid = row ORDER BY distance`,
    )
    .all(queryOf(terms), limit);
}

/** For what has no letters: an arrow, an emoji. */
function byLetters(database: Database, text: string, limit: number): SqlRow[] {
  return database
    .prepare(
      "SELECT place, facts, body FROM texts JOIN chats ON chats.row = texts.rowid WHERE instr(title || ' ' || body, ?) > 0 LIMIT ?",
    )
    .all(text, limit);
}
