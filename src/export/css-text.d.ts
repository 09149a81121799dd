// A style sheet as the text that it is.
declare module "*.css?raw" {
  const text: string;
  export default text;
}
