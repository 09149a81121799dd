import { total } from "./lib/total.mjs";

console.log(total([1, 2, 3]));
