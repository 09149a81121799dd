#!/bin/bash
set -e
sed -i 's/format-1/format-2/' package.json
printf 'import { formatMoney } from "#format";\n\nconsole.log(formatMoney(1234.5, { currency: "EUR" }));\n' > main.mjs
rm -r vendor/format-1
