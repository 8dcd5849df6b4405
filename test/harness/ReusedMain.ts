/**
 * A process that runs `aicr` several times, one after the other (ReusedProcess.ts). The end of a run is marked in its output instead of ending
 * the process, until a message has it end like any other.
 */
import * as nodeModule from "node:module"
import { join } from "node:path"
import { findProgram } from "../../src/app/program/FindProgram.mjs"
import { endMark } from "./ReusedProcess.ts"
import type { ReusedRun } from "./ReusedProcess.ts"

const root = join(import.meta.dirname, "../..")
const exit = process.exit.bind(process)
const mask = process.umask()
let isLast = false

const reportEnd = (code: number): void => {
  process.stdout.write(endMark)
  process.stderr.write(endMark)
  process.send?.({ code })
}

process.exit = ((code: number) => (isLast ? exit(code) : reportEnd(code))) as typeof process.exit
process.on("disconnect", () => exit(0))

nodeModule.enableCompileCache(`${root}/node_modules/.cache/aicr`)
const { main }: { readonly main: () => void } = await import(findProgram(root).url)

process.on("message", (message: ReusedRun | "last") => {
  if (message === "last") {
    isLast = true
    return process.send?.("last")
  }
  process.argv.splice(2, process.argv.length, ...message.args)
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, message.env)
  process.umask(mask)
  process.chdir(message.cwd)
  return main()
})
