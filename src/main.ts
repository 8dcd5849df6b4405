/**
 * The program `aicr`. Code that was compiled once is kept in the installation, where that may be written: a start then takes half the
 * processor time.
 */
import { enableCompileCache } from "node:module"

enableCompileCache(`${import.meta.dirname}/../node_modules/.cache/aicr`)
const { main } = await import("./app/Commands.ts")
main()
