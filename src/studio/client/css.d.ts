// Declares style sheet imports, which are bundled into one file beside the page.
declare module "*.css";
