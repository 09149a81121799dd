import { money } from "#format";

console.log(money(1234.5));
