import { unit } from "../../config/unit.mjs";

export const add = (a, b) => a + b * unit;
