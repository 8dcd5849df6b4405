/**
 * Registry of the test that shows the effect of each field: `fields.json`, from the path in the reference to a file and the full
 * name of its test.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

export interface Shown {
  readonly file: string
  readonly test: string
}

const path = join(import.meta.dirname, "fields.json")

export const registry = (): ReadonlyMap<string, Shown> => {
  const rows: Readonly<Record<string, Shown>> = JSON.parse(readFileSync(path, "utf8"))
  return new Map(Object.entries(rows))
}

export const saveRegistry = (rows: ReadonlyMap<string, Shown>): void =>
  writeFileSync(
    path,
    `${JSON.stringify(Object.fromEntries([...rows].toSorted(([a], [b]) => (a < b ? -1 : 1))), undefined, 2)}\n`
  )
