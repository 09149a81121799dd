// The name that messages tell people to type: the one this program was started by, be it courser, cursor-agent or agent.
let name = "courser";

/** Said once, by whoever knows the command line. */
export function setProgramName(given: string): void {
  name = given;
}

/** In a library, where there was no command line, it is courser. */
export function programName(): string {
  return name;
}
