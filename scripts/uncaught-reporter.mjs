// A reporter for vitest: writes the errors that were thrown outside of any test to the file that UNCAUGHT_FILE names.
import { appendFileSync } from "node:fs";

export default class UncaughtReporter {
  onTestRunEnd(_modules, errors) {
    for (const error of errors) appendFileSync(process.env.UNCAUGHT_FILE, `${error.stack ?? error.message}\n`);
  }
}
