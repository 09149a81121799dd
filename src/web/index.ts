// Pages and searches of the web.
export { fetchPage, GuardRefusal, NetError, type Page, PageError, type PageRequest } from "./page.ts";
export { createPageCache, type PageCache } from "./page-cache.ts";
export { SearchError, type SearchRequest, searchWeb } from "./search.ts";
export {
  howToConfigureSearch,
  type SearchEngine,
  type SearchHit,
  type SearchSettings,
  searchEngine,
  searchEngineNames,
} from "./search-engines.ts";
