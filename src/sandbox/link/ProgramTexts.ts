/**
 * Texts of programs that run inside of a sandbox, by the names of their files, as JavaScript that every node runs. All files are in
 * one folder.
 */
import { readFile } from "node:fs/promises"
import { stripTypeScriptTypes } from "node:module"
import { basename, join } from "node:path"
import { readInside } from "../inside/InsideText.ts"

const fileName = (path: string): string => `${basename(path, ".ts").toLowerCase()}.mjs`

const read = async (path: string): Promise<readonly [string, string]> => [
  fileName(path),
  stripTypeScriptTypes(await readFile(path, "utf8")).replaceAll(
    /(from ")\.[^"]*(\/\w+\.ts")/g,
    (_, before: string, file: string) => `${before}./${fileName(file.slice(0, -1))}"`
  )
]

/** `programs` are paths of the programs of a kind, which may import what is in this folder. */
export const readPrograms = async (...programs: ReadonlyArray<string>): Promise<Readonly<Record<string, string>>> => {
  const own = ["InnerEnd.ts", "Tunnel.ts"].map((name) => join(import.meta.dirname, name))
  return { "inside.mjs": await readInside(), ...Object.fromEntries(await Promise.all([...own, ...programs].map(read))) }
}
