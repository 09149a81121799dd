#!/bin/bash
set -e
printf -- '- DATABASE_PASSWORD: of the database\n- MAIL_TOKEN: for sending mail\n- PAGE_SIZE: rows on a page\n' > variables.md
