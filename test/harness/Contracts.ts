/**
 * Reads recordings of hosts: deliveries, responses, API descriptions, signatures. They are data of other projects, so
 * the repository stores none: `CONTRACTS_DIR` names their folder, by default `../shared/contracts` next to the clone.
 * Without it the suites check only the examples that are written here. A folder that is named and missing is a warning.
 */
import { existsSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"

const folder = resolve(process.env["CONTRACTS_DIR"] ?? join(import.meta.dirname, "../../../shared/contracts"))

export const hasContracts = existsSync(join(folder, "README.md"))

if (!hasContracts && process.env["CONTRACTS_DIR"] !== undefined) {
  process.emitWarning(`no recordings of hosts in ${folder}, which CONTRACTS_DIR names`)
}

export const contractBytes = (path: string): Buffer => readFileSync(join(folder, path))

/** Parses a JSON file of the folder. */
export const readContract = (path: string): unknown => JSON.parse(contractBytes(path).toString())
