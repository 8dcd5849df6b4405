/** Text of `Inside.ts` as JavaScript, which every node runs. */
import { readFile } from "node:fs/promises"
import { stripTypeScriptTypes } from "node:module"
import { join } from "node:path"

export const readInside = async (): Promise<string> =>
  stripTypeScriptTypes(await readFile(join(import.meta.dirname, "Inside.ts"), "utf8"))
