/**
 * The program `aicr`. Code that was compiled once is kept in the installation, where that may be written: a start then takes half the
 * processor time.
 */
import { enableCompileCache } from "node:module"
import { dirname } from "node:path"

enableCompileCache(`${import.meta.dirname}/../node_modules/.cache/aicr`)
const { findCallerFolder } = await import("./app/CallerFolder.ts")
const caller = findCallerFolder(process.env, dirname(import.meta.dirname))
if (caller !== undefined) process.chdir(caller)
const { main } = await import("./app/Commands.ts")
main()
