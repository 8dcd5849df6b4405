/**
 * The program `aicr`. Code that was compiled once is kept in the installation, where that may be written: a start then takes half the
 * processor time. It is JavaScript, because an old version of Node cannot load TypeScript, and its error would not name the cause.
 */
import * as nodeModule from "node:module"
import { dirname } from "node:path"

const root = dirname(import.meta.dirname)

/** Oldest version of Node, as in `engines` of package.json. */
const oldest = [22, 19]
const [major, minor] = process.versions.node.split(".").map(Number)
if (major < oldest[0] || (major === oldest[0] && minor < oldest[1])) {
  process.stderr.write(
    `aicr: this is Node ${process.versions.node}, and ${oldest.join(".")} or newer is needed. \`npm ci\` installs one beside the program: start it by ${root}/bin/aicr, or by \`npm start\` in ${root}\n`
  )
  process.exit(3)
}

nodeModule.enableCompileCache(`${root}/node_modules/.cache/aicr`)
const { findCallerFolder } = await import("./app/CallerFolder.ts")
const caller = findCallerFolder(process.env, root)
if (caller !== undefined) process.chdir(caller)
const { findProgram } = await import("./app/program/FindProgram.ts")
const { main } = await import(findProgram(root))
main()
