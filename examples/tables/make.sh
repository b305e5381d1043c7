#!/bin/sh
# Makes plan.md, report.md, page.html and page.png of every example again.
set -e
cd "$(dirname "$0")"
for name in sales weather league; do
  table="$name/$name.csv --templates $name/templates.toml"
  "${STEPWISE:-stepwise}" plan $table --markdown > "$name/plan.md"
  "${STEPWISE:-stepwise}" report $table --markdown --html "$name/page.html" \
    > "$name/report.md"
  "${CHROMIUM:-chromium}" --headless --no-sandbox --hide-scrollbars \
    --window-size=900,1000 --screenshot="$PWD/$name/page.png" \
    "file://$PWD/$name/page.html" 2> /dev/null
done
