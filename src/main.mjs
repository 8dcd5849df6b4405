/**
 * The program `aicr`. Code that was compiled once is kept in the installation, where that may be written: a start then takes half the
 * processor time (of the bundle by LoadBundle.mjs). It is JavaScript, because an old version of Node cannot load TypeScript, and its error would not name the cause.
 */
import * as nodeModule from "node:module"
import { dirname } from "node:path"
import { findProgram } from "./app/program/FindProgram.mjs"

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

const isInstalled = (name) => {
  try {
    return import.meta.resolve(name) !== ""
  } catch {
    return false
  }
}

nodeModule.enableCompileCache(`${root}/node_modules/.cache/aicr`)
const program = findProgram(root)
if (!program.isBundled && !isInstalled("effect")) {
  process.stderr.write(
    `aicr: ${root} has no bundle of these sources, and what the sources need is not installed: run \`npm ci\` in it, or install a release archive\n`
  )
  process.exit(3)
}
const { main } = await import(program.url)
main()
