#!/bin/sh
# A year of monthly releases about an invented city, each leaning on those before it, and a budget that ends with it.
#
#     sh examples/every-month.sh year        # into a new folder called year; some minutes
#
# Prints what is left after every month, the chain as `verify` sees it, and the refusal of a thirteenth release.
# PEOPLE, PLACES and MONTHS, up to 12, make it smaller.
set -eu
folder=${1:-every-month}
months=${MONTHS:-12}
mkdir "$folder"
cd "$folder"

locentropy datasets city --people "${PEOPLE:-2000}" --places "${PLACES:-400}" --start 2025-01-01 --days 396 \
  --changing --out city
locentropy ledger create city.ledger --population "the invented people" --unit person-month --epsilon 1 \
  --person-epsilon "$months" --large-epsilon --time-zone as-written

publish() {
  locentropy publish city/visits.parquet --window "$1" --epsilon 1 --places city/places.csv \
    --provenance "made with the city, before any visit" --title "Where people go, month by month" \
    --publish-column kind --publish-column district \
    --ledger city.ledger --out "$1" ${2:+--after "$2"}
}

before=
for month in $(seq -f 2025-%02g "$months"); do
  echo "== $month"
  publish "$month" "$before" | grep 'Left of the budget'
  before=$month
done

echo "== The chain"
locentropy verify "$before" --ledger city.ledger
echo "== The ledger after $months months"
locentropy ledger show city.ledger
echo "== A month more"
if publish 2026-01 "$before"; then
  echo "It was published, and must not be." >&2
  exit 1
fi
