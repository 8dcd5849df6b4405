/**
 * Recorded material of the hosts that is not part of this repository: CONTRACTS_DIR, by default ../shared/contracts beside it.
 * Suites that need it are skipped where it is missing, and say so in their name.
 */
import { existsSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { Schema } from "effect"

const folder = resolve(process.env["CONTRACTS_DIR"] ?? join(import.meta.dirname, "../../../shared/contracts"))

export const noContracts = !existsSync(join(folder, "README.md"))

/** For the name of a suite. */
export const missing = noContracts ? ` (skipped: nothing recorded in ${folder}; set CONTRACTS_DIR)` : ""

export const contractBytes = (path: string): Buffer => readFileSync(join(folder, path))

/** A JSON file of the folder, or `otherwise` where there is no folder. */
export const contractJson = <S extends Schema.Codec<unknown, unknown>>(
  path: string,
  schema: S,
  otherwise: S["Type"]
): S["Type"] => (noContracts ? otherwise : Schema.decodeUnknownSync(schema)(JSON.parse(contractBytes(path).toString())))
