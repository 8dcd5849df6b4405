/** Makes each start of a program in a test of `npm run test:fast` fail (FastFiles.ts). */
import childProcess from "node:child_process"
import { syncBuiltinESMExports } from "node:module"

const refuse = (program: unknown): never => {
  throw new Error(
    `a fast test starts ${String(program)}; import what it needs from test/harness, which excludes the file`
  )
}

const names = ["exec", "execFile", "execFileSync", "execSync", "fork", "spawn", "spawnSync"]
Object.assign(childProcess, Object.fromEntries(names.map((name) => [name, refuse])))
syncBuiltinESMExports()
