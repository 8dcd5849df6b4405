/** Text of `StdioBridge.ts` as JavaScript: a file of a sandbox's program (`SandboxProgram.files`), started with node. */
import { readFile } from "node:fs/promises"
import { stripTypeScriptTypes } from "node:module"
import { join } from "node:path"

export const readStdioBridge = async (): Promise<string> =>
  stripTypeScriptTypes(await readFile(join(import.meta.dirname, "StdioBridge.ts"), "utf8"))
