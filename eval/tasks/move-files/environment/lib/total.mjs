import { add } from "./math/add.mjs";

export const total = (numbers) => numbers.reduce(add, 0);
