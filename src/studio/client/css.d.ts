// Style sheets are bundled into one file beside the page.
declare module "*.css";
