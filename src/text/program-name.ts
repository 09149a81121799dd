// Holds the program name for messages: the one it was started as, such as courser, cursor-agent or agent.
let name = "courser";

/** Called once, by the code that parses the command line. */
export function setProgramName(newName: string): void {
  name = newName;
}

/** Returns courser in a library, where there is no command line. */
export function programName(): string {
  return name;
}
