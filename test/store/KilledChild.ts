/** Runs a script as a process of its own and kills it (SIGKILL) in the middle of its work. */
import { spawn } from "node:child_process"
import { join } from "node:path"
import { createInterface } from "node:readline"

/** Folder of compiled code. A script that is killed often stores it explicitly (`flushCompileCache`) and then starts in half the time. */
const compiled = join(import.meta.dirname, "../../node_modules/.cache/aicr-tests")

const start = (script: string, args: ReadonlyArray<string>) =>
  spawn(process.execPath, ["--disable-warning=ExperimentalWarning", script, ...args], {
    env: { NODE_COMPILE_CACHE: compiled, ...process.env },
    stdio: ["ignore", "pipe", "pipe"]
  })

/** Lines that `script` wrote before it was killed, which happens as soon as it has written `lines` of them. */
export const killAfter = (script: string, args: ReadonlyArray<string>, lines: number): Promise<ReadonlyArray<string>> =>
  new Promise((resolve, reject) => {
    const child = start(script, args)
    const written: Array<string> = []
    const errors: Array<string> = []
    child.stderr.on("data", (data) => errors.push(String(data)))
    const output = createInterface(child.stdout)
    output.on("line", (line) => {
      written.push(line)
      if (written.length === lines) child.kill("SIGKILL")
    })
    output.on("close", () => {
      if (child.killed) resolve(written)
      else reject(new Error(`${script} ended by itself after ${written.length} lines: ${errors.join("")}`))
    })
    child.on("error", reject)
  })

/** Runs a script until it ends by itself; its lines are added to `written`. */
export const toTheEnd = (script: string, args: ReadonlyArray<string>, written: Array<string>): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = start(script, args)
    child.stderr.pipe(process.stderr)
    createInterface(child.stdout).on("line", (line) => written.push(line))
    child.on("close", (code) => (code === 0 ? resolve() : reject(new Error(`${script} ended with ${code}`))))
    child.on("error", reject)
  })
