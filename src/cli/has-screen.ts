// Tells whether the terminal can do more than print lines.
export function hasScreen({ TERM }: NodeJS.ProcessEnv): boolean {
  return TERM !== undefined && TERM !== "" && TERM !== "dumb";
}
