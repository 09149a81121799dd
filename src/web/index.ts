// Pages and searches of the web.
export { fetchPage, GuardRefusal, NetError, type Page, PageError, type PageRequest } from "./page.ts";
export { createPageCache, type PageCache } from "./page-cache.ts";
export {
  howToConfigureSearch,
  type SearchEngine,
  SearchError,
  type SearchHit,
  type SearchRequest,
  type SearchSettings,
  searchEngine,
  searchEngineNames,
  searchWeb,
} from "./search.ts";
