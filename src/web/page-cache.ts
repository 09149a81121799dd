// Caches the pages fetched in this run. The size is limited: the oldest are dropped first.
import type { Page } from "./page.ts";

export interface PageCache {
  get(url: string): Page | undefined;
  set(url: string, page: Page): void;
}

const maxCharacters = 20_000_000;

export function createPageCache(limit = maxCharacters): PageCache {
  const pages = new Map<string, Page>();
  let length = 0;
  return {
    get: (url) => {
      const page = pages.get(cacheKey(url));
      return page && { ...page, url };
    },
    set(url, page) {
      const key = cacheKey(url);
      length += page.markdown.length - (pages.get(key)?.markdown.length ?? 0);
      pages.delete(key);
      pages.set(key, page);
      for (const [oldest, { markdown }] of pages) {
        if (length <= limit) break;
        pages.delete(oldest);
        length -= markdown.length;
      }
    },
  };
}

/** Removes the fragment, which is a place in the page, not another page. */
function cacheKey(url: string): string {
  return url.replace(/#.*$/s, "");
}
