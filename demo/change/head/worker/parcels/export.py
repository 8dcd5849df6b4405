"""Writes the parcels of a day to a CSV file for the accountants."""

import csv
import datetime
import pathlib

COLUMNS = ["id", "recipient", "status", "weight_grams"]


def file_name(day: datetime.date) -> str:
    return f"parcels-{day.isoformat()}.csv"


def write_rows(target, rows) -> int:
    writer = csv.DictWriter(target, fieldnames=COLUMNS, extrasaction="ignore")
    writer.writeheader()
    count = 0
    for row in rows:
        writer.writerow(row)
        count += 1
    return count


def export_day(directory: pathlib.Path, day: datetime.date, rows) -> int:
    target = open(directory / file_name(day), "w", newline="", encoding="utf-8")
    return write_rows(target, rows)


def latest_export(directory: pathlib.Path) -> list[str]:
    names = sorted(path.name for path in directory.glob("parcels-*.csv"))
    if not names:
        return []
    with open(directory / names[-1], newline="", encoding="utf-8") as source:
        return [row["id"] for row in csv.DictReader(source)]
