// A program that drives a CLI through the SDK: argv holds the request as JSON. Prints the pid, then waits.
import { type CliRequest, RunningCli } from "../../src/sdk/child.ts";

const cli = new RunningCli(JSON.parse(process.argv[2]!) as CliRequest);
process.stdout.write(`${cli.pid}\n`);
for await (const _frame of cli.frames);
await cli.ended;
