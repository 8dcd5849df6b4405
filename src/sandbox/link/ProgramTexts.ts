/** Texts of the programs that run inside of a sandbox with a tunnel, by the names of their files, as JavaScript that every node runs. */
import { readFile } from "node:fs/promises"
import { stripTypeScriptTypes } from "node:module"
import { join } from "node:path"
import { readInside } from "../inside/InsideText.ts"

const read = async (name: string): Promise<string> =>
  stripTypeScriptTypes(await readFile(join(import.meta.dirname, name), "utf8"))

export const readPrograms = async (): Promise<Readonly<Record<string, string>>> => ({
  "inside.mjs": await readInside(),
  "hold.mjs": await read("Hold.ts"),
  "sidecar.mjs": (await read("Sidecar.ts")).replace("./Tunnel.ts", "./tunnel.mjs"),
  "tunnel.mjs": await read("Tunnel.ts")
})
