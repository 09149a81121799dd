// Checks the recipes for Kubernetes, KEDA and GitHub with the schemas of those who run them. Bundled and started by fleet.test.ts, in a
// folder that has the packages.  DIRECTORY of the recipes; prints a line for each fault.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { NoOperationTraceWriter, parseWorkflow } from "@actions/workflow-parser";
import { ScaledJob } from "@kubernetes-models/keda/keda.sh/v1alpha1/ScaledJob";
import { Job } from "kubernetes-models/batch/v1/Job";
import { parse } from "yaml";

const [directory] = process.argv.slice(2);
const read = (name) => readFileSync(join(directory, name), "utf8");

const faultsOf = (Model, data) => {
  try {
    new Model(data).validate();
    return [];
  } catch (error) {
    return [error.message];
  }
};
const faultsOfWorkflow = (name, content) =>
  parseWorkflow({ name, content }, new NoOperationTraceWriter())
    .context.errors.getErrors()
    .map(({ message }) => message);

const job = parse(read("kubernetes-job.yaml"));
const scaled = parse(read("keda-scaled-job.yaml"));
const faults = [
  ...faultsOf(Job, job),
  ...faultsOf(ScaledJob, scaled),
  ...["github-matrix.yml", "github-autoscale.yml"].flatMap((name) => faultsOfWorkflow(name, read(name))),
];
// A check that finds nothing in these checks nothing.
const wrong = [
  faultsOf(Job, { ...job, spec: { ...job.spec, parallelism: "many" } }),
  faultsOf(ScaledJob, { ...scaled, spec: { ...scaled.spec, triggers: "prometheus" } }),
  faultsOfWorkflow("wrong.yml", read("github-matrix.yml").replace("runs-on", "run-on")),
];
for (const fault of faults) console.log(fault);
for (const [index, found] of wrong.entries())
  if (found.length === 0) console.log(`what is wrong in ${index} was not noticed`);
