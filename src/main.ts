/**
 * The program `aicr`. Code that was compiled once is kept in the installation, where that may be written: a start then takes half the
 * processor time.
 */
import { enableCompileCache } from "node:module"
import { dirname } from "node:path"

const root = dirname(import.meta.dirname)
enableCompileCache(`${root}/node_modules/.cache/aicr`)
const { findCallerFolder } = await import("./app/CallerFolder.ts")
const caller = findCallerFolder(process.env, root)
if (caller !== undefined) process.chdir(caller)
const { findProgram } = await import("./app/program/FindProgram.ts")
const { main } = await import(findProgram(root))
main()
