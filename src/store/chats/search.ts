// Full-text search over all chats: words, prefixes of words, and quoted phrases. Every text is a valid query.
import { join } from "node:path";
import type { Database, SqlRow } from "../sqlite.ts";
import type { ChatMetadata } from "./chat.ts";
import { chatsDir } from "./layout.ts";
import { type IndexWatch, withIndex } from "./search-index.ts";
import { isWord, type SearchTerm, termsIn } from "./search-terms.ts";
import { snippetOf } from "./snippet.ts";

export type ChatHit = {
  metadata: ChatMetadata;
  /** The part of the text with the most matching words, on one line. */
  snippet: string;
};

export type SearchOptions = IndexWatch & { limit?: number };

/** Returns the best matches first. Every word must occur in the chat's title or text. */
export function searchChats(configDir: string, text: string, { limit = 50, ...watch }: SearchOptions = {}): ChatHit[] {
  const terms = termsIn(text);
  if (text.trim() === "") return [];
  return withIndex(configDir, watch, (database) => {
    const words = terms.filter(isWord);
    const rows = words.length > 0 ? searchByWords(database, words, limit) : byLetters(database, text.trim(), limit);
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

/** Builds the query for the index, which treats `foo_bar` as a phrase of its parts. The last part may be a prefix. */
function queryOf(terms: readonly SearchTerm[]): string {
  return terms.map(({ text, isPhrase }) => `"${text.replaceAll('"', '""')}"${isPhrase ? "" : "*"}`).join(" ");
}

/** The weights of a word in the title, in the text, and as the suffix of a name. */
const weights = "bm25(8.0, 1.0, 0.5)";

function searchByWords(database: Database, terms: readonly SearchTerm[], limit: number): SqlRow[] {
  return database
    .prepare(
      `SELECT place, facts, body FROM (
         SELECT rowid AS row, rank AS distance FROM texts WHERE texts MATCH ? AND rank MATCH '${weights}' ORDER BY rank LIMIT ?
       ) JOIN chats USING (row) JOIN texts ON texts.rowid = row ORDER BY distance`,
    )
    .all(queryOf(terms), limit);
}

/** Searches for text without letters or digits: an arrow, an emoji. */
function byLetters(database: Database, text: string, limit: number): SqlRow[] {
  return database
    .prepare(
      "SELECT place, facts, body FROM texts JOIN chats ON chats.row = texts.rowid WHERE instr(title || ' ' || body, ?) > 0 LIMIT ?",
    )
    .all(text, limit);
}
