/** Text of `Inside.ts` as JavaScript, which every node runs. */
import { readFile } from "node:fs/promises"
import { stripTypeScriptTypes } from "node:module"
import { join } from "node:path"

let text: Promise<string> | undefined

export const readInside = (): Promise<string> =>
  (text ??= readFile(join(import.meta.dirname, "Inside.ts"), "utf8").then((source) => stripTypeScriptTypes(source)))
